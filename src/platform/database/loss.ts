/** Recorded changes that the database has lost. */
export interface DataLoss {
  /** The number of the last audit event that is known to have been committed. */
  readonly expected: number;
  /** The number of the last audit event in the database. */
  readonly found: number;
  /** When the last known audit event was committed, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** Describes how much is missing. */
export function describeLoss({ expected, found, writtenAt }: DataLoss): string {
  const count = expected - found;
  return `${count} recorded change${count === 1 ? '' : 's'} or more, the last of ${new Date(writtenAt).toISOString()}`;
}
