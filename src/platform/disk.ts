/** https://www.sqlite.org/rescode.html: a full disk, and a write that failed, as it does at the limit of a file. */
const FULL = 13;
const WRITE_FAILED = 778;

/** Whether an error means that a disk, a quota or the limit of a file is exhausted. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error && (Number(error.errcode) === WRITE_FAILED || (Number(error.errcode) & 0xff) === FULL))
    return true;
  if ('code' in error && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(error.code))) return true;
  return error.cause !== undefined && isDiskFull(error.cause);
}
