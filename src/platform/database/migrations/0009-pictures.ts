import type { ColumnTypes } from './timeline.ts';

/** Pictures of people and of apps. The name of one stands with its owner, so that nobody reads bytes to give its address. */
export const addPictures = ({ int, bytes, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE picture (
    name TEXT NOT NULL PRIMARY KEY,
    account_id ${int} UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    bytes ${bytes} NOT NULL
  ) ${options}`,
  'ALTER TABLE account ADD COLUMN picture TEXT',
  'ALTER TABLE client ADD COLUMN picture TEXT',
];
