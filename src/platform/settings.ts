import { type Changed, shown, type Undo } from './undo.ts';

/**
 * What a change of a setting is to the question whether a stolen key opened something with it:
 * - how it is undone: it may let somebody in, or lower a protection. What the setting was before is kept with who changed it.
 * - `act`: it is on record as an act by itself, which ends in its own way.
 * - `free`: it lets nobody in.
 */
export type SettingWeight<Value> = Undo<Value> | 'act' | 'free';

/** Every setting of a kind of record with its weight: one without does not compile. */
export type SettingTable<Settings> = {
  readonly [Name in keyof Required<Settings>]: SettingWeight<Exclude<Settings[Name], undefined>>;
};

/** Settings with their weights, of any kind of record. */
export type Settings = Readonly<Record<string, ((now: never, change: Changed<never>) => unknown) | 'act' | 'free'>>;

/** The settings of a table of which earlier values are kept. */
export type KeptSetting<Table> = {
  [Name in keyof Table]: Table[Name] extends 'act' | 'free' ? never : Name;
}[keyof Table] &
  string;

/** Their names. */
export const keptSettings = <Table extends Settings>(table: Table): readonly KeptSetting<Table>[] =>
  Object.keys(table).filter((name): name is KeptSetting<Table> => typeof table[name] === 'function');

/** What a setting is without a change of it; one that no table names is only shown. */
export function undoOf(table: Settings, name: string): Undo<unknown> {
  const found = table[name];
  // The table was checked against the values.
  return typeof found === 'function' ? (found as Undo<unknown>) : shown;
}
