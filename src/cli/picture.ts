import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import type { Core } from '../core.ts';
import { type Picture, requirePicture } from '../pictures/pictures.ts';

export interface PictureField {
  /** The bytes of a file; false for no picture; left out, it stays. */
  readonly picture?: Uint8Array | false;
}

export const withPicture = (command: Command): Command =>
  command
    .option('--picture <file>', 'a JPEG, PNG or WebP file of at most 1 MiB; the square of its middle is kept', readFile)
    .option('--no-picture', 'letters stand in its place');

function readFile(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read: ${error instanceof Error ? error.message : 'unknown'}.`);
  }
}

/** The picture of a command; null for none, undefined where it says nothing of it. @throws {OAuthError} */
export async function pictureFrom(core: Core, { picture }: PictureField): Promise<Picture | null | undefined> {
  if (picture === undefined) return undefined;
  return picture === false ? null : requirePicture(core.pictures, picture);
}
