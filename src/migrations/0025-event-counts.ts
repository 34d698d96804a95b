import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** How many events of a type there were in each hour, and up to which event they are counted. */
export const eventCounts = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE event_count (
    hour ${int} NOT NULL,
    type TEXT NOT NULL,
    reason TEXT NOT NULL,
    client_id ${int} NOT NULL,
    count ${int} NOT NULL,
    PRIMARY KEY (hour, type, reason, client_id)
  ) ${options}`,
  `CREATE TABLE counted_event (
    id ${int} PRIMARY KEY,
    last_event ${int} NOT NULL
  ) ${options}`,
  'INSERT INTO counted_event (id, last_event) VALUES (1, 0)',
];
