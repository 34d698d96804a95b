import type { ColumnTypes } from './timeline.ts';

/** What a person knows a session by. Null is unknown, as for all that began before. */
export const sessionDevices = (_types: ColumnTypes): readonly string[] => [
  'ALTER TABLE browser_session ADD COLUMN browser TEXT',
  'ALTER TABLE browser_session ADD COLUMN system TEXT',
  'ALTER TABLE browser_session ADD COLUMN network TEXT',
];
