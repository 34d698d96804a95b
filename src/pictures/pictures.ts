import { boundedPool } from '../platform/bounded-pool.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { bare } from './rules/bare.ts';
import { type Header, readHeader } from './rules/header.ts';

/** The largest file that is taken: 1 MiB. */
export const LARGEST_PICTURE = 1024 * 1024;

/** What files are offered as; what one really is, its first bytes say. */
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp'] as const;

/** A picture as it is kept: a square, upright, in its own pixels and nothing else. */
export interface Picture {
  /** Random, so that whoever was not told it cannot ask for it; its ending tells the type. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type PictureProblem = 'empty' | 'too large' | 'strange' | 'broken' | 'too many pixels';

/** Makes pictures of uploaded files, off the event loop, one at a time. */
export interface Pictures {
  /**
   * @param sharers on whose behalf: each gets a fair share of the decoder
   * @throws {OAuthError} `temporarily_unavailable` when too many wait already
   */
  make(file: Uint8Array, sharers?: readonly string[]): Promise<Picture | PictureProblem>;
}

/** The side of a picture in pixels; one that comes smaller stays so. */
const SIDE = 512;
/** What a picture may take once it is decoded, in bytes: 16 million pixels, of which phones have 12. */
const MOST_MEMORY = 64 * 1024 * 1024;
const LONGEST_SIDE = 16_384;
const JPEG_QUALITY = 85;
/** How many uploads may wait for the one that is decoded. */
const QUEUE = 16;

export function pictures(): Pictures {
  const busy = 'Too many pictures are being uploaded. Try again in a moment.';
  // One at a time bounds the memory, and leaves the threads to those who sign in.
  const pool = boundedPool(1, QUEUE, busy);
  return {
    async make(file, sharers) {
      if (file.length === 0) return 'empty';
      if (file.length > LARGEST_PICTURE) return 'too large';
      const header = readHeader(file);
      if (typeof header === 'string') return header;
      const { width, height, pixelBytes } = header;
      // Before anything is decoded: a file of a few bytes can stand for any number of pixels.
      if (width * height * pixelBytes > MOST_MEMORY || Math.max(width, height) > LONGEST_SIDE) return 'too many pixels';
      return pool.run(() => squared(file, header), sharers);
    },
  };
}

/** The middle of a picture, drawn anew: nothing of the file but its pixels is left. */
async function squared(file: Uint8Array, { width, height, orientation }: Header): Promise<Picture | 'broken'> {
  // Loaded where it is used: most processes never see a picture.
  const { Transformer, FastResizeFilter, ResizeFit } = await import('@napi-rs/image');
  const [across, down] = orientation < 5 ? [width, height] : [height, width];
  const side = Math.min(SIDE, across, down);
  const scale = side / Math.min(across, down);
  const [w, h] = [Math.max(side, Math.round(across * scale)), Math.max(side, Math.round(down * scale))];
  let pixels: Uint8Array;
  try {
    pixels = await new Transformer(bare(file))
      .rotate(orientation)
      .fastResize({ width: w, height: h, fit: ResizeFit.Fill, filter: FastResizeFilter.Lanczos3 })
      .crop(Math.floor((w - side) / 2), Math.floor((h - side) / 2), side, side)
      .rawPixels();
  } catch {
    return 'broken';
  }
  if (pixels.length !== side * side * 4) throw new Error(`${pixels.length} bytes for a square of ${side} pixels`);
  const drawn = Transformer.fromRgbaPixels(pixels, side, side);
  // Every client reads both. What can be seen through stays so: it lies on the account's colour.
  return isOpaque(pixels)
    ? { name: `${randomIdentifier()}.jpg`, bytes: await drawn.jpeg(JPEG_QUALITY) }
    : { name: `${randomIdentifier()}.png`, bytes: await drawn.png() };
}

function isOpaque(rgba: Uint8Array): boolean {
  for (let alpha = 3; alpha < rgba.length; alpha += 4) if (rgba[alpha] !== 255) return false;
  return true;
}

export const pictureType = (name: string): string => (name.endsWith('.png') ? 'image/png' : 'image/jpeg');

const REFUSALS: Readonly<Record<PictureProblem, readonly [status: number, text: string]>> = {
  empty: [400, 'The picture is empty: send the bytes of a JPEG, PNG or WebP file as the body.'],
  'too large': [413, 'The picture is larger than 1 MiB.'],
  strange: [415, 'The picture must be a JPEG, PNG or WebP file.'],
  broken: [400, 'The picture cannot be read: it is damaged or not whole.'],
  'too many pixels': [400, 'The picture has too many pixels: 4096 by 4096 are enough.'],
};

/**
 * The picture of a file that an operator sent.
 * @param file its bytes; something else where none were sent, or too many
 * @param sharers see {@link Pictures.make}
 * @throws {OAuthError} where it is none that is taken
 */
export async function requirePicture(
  pictures: Pictures,
  file: unknown,
  sharers: readonly string[] = [],
): Promise<Picture> {
  const bytes = file instanceof Uint8Array ? file : new Uint8Array();
  const made = file === 'too large' ? file : await pictures.make(bytes, sharers);
  if (typeof made !== 'string') return made;
  const [status, text] = REFUSALS[made];
  throw new OAuthError(status, 'invalid_request', text);
}
