import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

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

/**
 * Creates a folder that its owner alone can read, with those above it. One by one: where a folder cannot be made and says that it does not
 * exist, as in /proc, Node's own `recursive` never returns.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may just have created it.
    if (!existsSync(path)) throw error;
  }
}
