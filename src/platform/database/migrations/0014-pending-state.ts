import type { ColumnTypes } from './timeline.ts';

/** The `state` of a pending request as octets: in the JSON of the rest, a character of it may take up to six. */
export const pendingState = ({ bytes }: ColumnTypes): readonly string[] => [
  `ALTER TABLE interaction ADD COLUMN state ${bytes}`,
];
