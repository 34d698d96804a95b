import type { ColumnTypes } from './timeline.ts';

/** The PostgreSQL server on which the data is known to be complete: one row at most, and none in an embedded database. */
export const knownServer = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE known_server (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    cluster TEXT NOT NULL,
    timeline ${int} NOT NULL,
    database TEXT NOT NULL,
    relation TEXT NOT NULL,
    release INTEGER NOT NULL
  ) ${options}`,
];
