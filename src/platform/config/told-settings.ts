import type { Variable } from './variable.ts';
import { isSecretSetting } from './variable-files.ts';

/** A setting as operators see it. */
export interface ToldSetting {
  readonly name: string;
  /** What it is set to; null for what is not set, and for what is secret. */
  readonly value: string | null;
  /** Where that comes from. */
  readonly source: 'default' | 'environment' | 'file';
  readonly isSecret: boolean;
  /** The default and what the setting means, in Markdown. */
  readonly initial: string;
  readonly about: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Every setting for operators, without the values of those that are secret.
 * @param given what the process was started with
 * @param environment the same, with the contents of the files that it names
 */
export const toldSettings = (
  variables: Readonly<Record<string, Pick<Variable<unknown>, 'name' | 'initial' | 'about'>>>,
  given: Environment,
  environment: Environment,
): readonly ToldSetting[] =>
  Object.values(variables).map(({ name, initial, about }) => {
    const isSet = (environment[name] ?? '') !== '';
    const isSecret = isSecretSetting(name);
    const source = !isSet ? 'default' : (given[name] ?? '') === '' ? 'file' : 'environment';
    return { name, value: isSet && !isSecret ? (environment[name] ?? null) : null, source, isSecret, initial, about };
  });
