import type { ColumnTypes } from './timeline.ts';

/**
 * Token families say when housekeeping looks at them next, so that it finds those of no more use by an index. The zero of rows that an
 * earlier version inserts is a time that has come. A grant remembers when its families were last used, since it outlives them. All of it
 * is added: an earlier version neither reads nor needs any.
 */
export const retention = ({ int }: ColumnTypes): readonly string[] => [
  `ALTER TABLE token_family ADD COLUMN review_at ${int} NOT NULL DEFAULT 0`,
  `ALTER TABLE consent_grant ADD COLUMN last_used_at ${int}`,
];
