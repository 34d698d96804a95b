import type { ColumnTypes } from './timeline.ts';

/**
 * Which admin key handed out a link. The key of the configuration has an id, too: one row, that of the newest start. An earlier version
 * neither reads nor needs any of it; the links that it makes end with no key.
 */
export const makers = ({ int, options }: ColumnTypes): readonly string[] => [
  `ALTER TABLE challenge ADD COLUMN admin_key_id ${int}`,
  `CREATE TABLE configured_admin_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key_id ${int},
    hash TEXT
  ) ${options}`,
  'INSERT INTO configured_admin_key (id, key_id, hash) VALUES (1, NULL, NULL)',
];
