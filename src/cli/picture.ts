import type { Command } from 'commander';
import type { Core } from '../core.ts';
import { type Picture, requirePicture } from '../pictures/pictures.ts';
import { binaryFile } from './option-parsers.ts';

export interface PictureField {
  /** The content of the file; false to remove the picture; undefined to keep it. */
  readonly picture?: Uint8Array | false;
}

export const withPicture = (command: Command): Command =>
  command
    .option('--picture <file>', 'a JPEG, PNG or WebP file of at most 1 MiB; it is cropped to a square', binaryFile)
    .option('--no-picture', 'remove the picture; the initials are shown instead');

/** @returns the new picture; null to remove it, undefined to keep it. @throws {Failure} */
export async function pictureFrom(core: Core, { picture }: PictureField): Promise<Picture | null | undefined> {
  if (picture === undefined) return undefined;
  return picture === false ? null : requirePicture(core.pictures, picture);
}
