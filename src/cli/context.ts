import type { Command } from 'commander';
import type { Output } from './output.ts';
import type { GlobalFlags } from './session.ts';

/** What every command takes from the flags that all share. */
export type ContextOf = (command: Command) => { readonly flags: GlobalFlags; readonly out: Output };

/** Gathers a flag that may be given several times. */
export const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
];

/** An object without its undefined members: flags that were not given are not changes. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
