/**
 * What a change of a setting is to the question whether a stolen key opened something with it:
 * - `kept`: it may let somebody in, or lower a protection. What the setting was before is kept with who changed it.
 * - `act`: it is on record as an act by itself, which ends in its own way.
 * - `free`: it lets nobody in.
 */
export type SettingWeight = 'kept' | 'act' | 'free';

/** Every setting of a kind of record with its weight: one without does not compile. */
export type SettingTable<Settings> = { readonly [Name in keyof Required<Settings>]: SettingWeight };

/** The settings of a table of which earlier values are kept. */
export type KeptSetting<Table> = {
  [Name in keyof Table]: Table[Name] extends 'kept' ? Name : never;
}[keyof Table] &
  string;

/** Their names. */
export const keptSettings = <Table extends Readonly<Record<string, SettingWeight>>>(
  table: Table,
): readonly KeptSetting<Table>[] =>
  Object.keys(table).filter((name): name is KeptSetting<Table> => table[name] === 'kept');
