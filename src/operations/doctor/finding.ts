/** The checks of `tessera doctor`, in the order of its output. */
export type Check =
  | 'version'
  | 'configuration'
  | 'database'
  | 'migrations'
  | 'node-numbers'
  | 'secret'
  | 'backup'
  | 'mail'
  | 'upstreams'
  | 'base-url'
  | 'log'
  | 'proxy-headers'
  | 'cookies'
  | 'clock';

/** The result of one check. Warnings and problems have a remedy. */
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

/** A row of a table of checks: the level at which something is found, or false where it is not; what was found; and its remedy. */
export type CheckRow =
  | readonly [level: false | 'warning' | 'problem', found: string, remedy: string]
  | readonly [level: false | 'ok', found: string];

/** What the rows of a table find. */
export const tabulate = (check: Check, rows: readonly CheckRow[]): Finding[] =>
  rows.flatMap((row): readonly Finding[] => {
    if (row[0] === false) return [];
    if (row.length === 2) return [ok(check, row[1])];
    const [level, found, remedy] = row;
    return [{ check, level, found, remedy }];
  });

/** An error that would stop a start; its message says what is wrong and then what to do. */
export function configurationProblem(check: Check, text: string, otherwise: string): Finding {
  const [, found = text, remedy = otherwise] = /^(.+?[.:])\s+(\p{Lu}.*)$/su.exec(text) ?? [];
  return problem(check, found, remedy);
}
