/** Changes that were recorded and that the database does not hold any more. */
export interface DataLoss {
  /** The number of the last audit event that was committed, as far as that is known. */
  readonly expected: number;
  /** The number of the last one that the database has. */
  readonly found: number;
  /** When the last one that is known of was committed, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** How much is missing, in words. */
export function describeLoss({ expected, found, writtenAt }: DataLoss): string {
  const count = expected - found;
  return `${count} recorded change${count === 1 ? '' : 's'} or more, the last of ${new Date(writtenAt).toISOString()}`;
}
