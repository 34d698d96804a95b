import type { Command } from 'commander';
import type { Api } from './api.ts';
import { binaryFile } from './option-parsers.ts';

export interface PictureField {
  /** The content of the file; false to remove the picture; undefined to keep it. */
  readonly picture?: Uint8Array | false;
}

export const withPicture = (command: Command): Command =>
  command
    .option('--picture <file>', 'a JPEG, PNG or WebP file of at most 1 MiB; it is cropped to a square', binaryFile)
    .option('--no-picture', 'remove the picture; the initials are shown instead');

/** Changes the picture of a user or an app. @returns the record; undefined to keep the picture */
export async function savePicture<T>(api: Api, of: string, { picture }: PictureField): Promise<T | undefined> {
  if (picture === undefined) return undefined;
  return picture === false ? api.delete<T>(`${of}/picture`) : api.putFile<T>(`${of}/picture`, picture);
}
