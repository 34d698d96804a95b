/** What `tessera doctor` looks at, in the order in which it tells. */
export type Check =
  | 'configuration'
  | 'database'
  | 'migrations'
  | 'node-numbers'
  | 'secret'
  | 'base-url'
  | 'proxy-headers'
  | 'cookies'
  | 'clock';

/** One thing that was looked at. What is not well has a remedy. */
export type Finding =
  | { readonly check: Check; readonly level: 'ok'; readonly found: string; readonly remedy: null }
  | { readonly check: Check; readonly level: 'warning' | 'problem'; readonly found: string; readonly remedy: string };

export const ok = (check: Check, found: string): Finding => ({ check, level: 'ok', found, remedy: null });
export const warning = (check: Check, found: string, remedy: string): Finding => ({
  check,
  level: 'warning',
  found,
  remedy,
});
export const problem = (check: Check, found: string, remedy: string): Finding => ({
  check,
  level: 'problem',
  found,
  remedy,
});

/** A refusal of the start, which says what is wrong and then what to do. */
export function configurationProblem(check: Check, text: string, otherwise: string): Finding {
  const [, found = text, remedy = otherwise] = /^(.+?[.:])\s+(\p{Lu}.*)$/su.exec(text) ?? [];
  return problem(check, found, remedy);
}
