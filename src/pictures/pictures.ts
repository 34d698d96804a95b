import { boundedPool } from '../platform/bounded-pool.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import { Failure, type FailureKind } from '../platform/failure.ts';
import { IMMEDIATELY, type Turn } from '../platform/turns.ts';
import { type PictureHeader, readHeader } from './rules/header.ts';
import { strip } from './rules/strip.ts';

/** The largest file that is accepted: 1 MiB. */
export const LARGEST_PICTURE = 1024 * 1024;

/** The accepted types. The type of a file is detected from its first bytes. */
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp'] as const;

/** A picture as it is stored: square, upright, and without metadata. */
export interface Picture {
  /** Random, so that it cannot be guessed; its extension tells the type. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type PictureProblem = 'empty' | 'too large' | 'unsupported format' | 'broken' | 'too many pixels';

/** Converts uploaded files to pictures, off the event loop, one at a time. */
export interface Pictures {
  /**
   * @param flows such as an account and an address: each gets a fair share of the decoder
   * @throws {Failure} `unavailable` when too many wait already
   */
  convert(file: Uint8Array, flows?: readonly string[]): Promise<Picture | PictureProblem>;
}

/** The side of a picture in pixels; smaller pictures are not enlarged. */
const SIDE = 512;
/** The largest size of a decoded picture, in bytes: 16 million pixels; the cameras of phones have 12 million. */
const MAX_DECODED_SIZE = 64 * 1024 * 1024;
const MAX_SIDE = 16_384;
const JPEG_QUALITY = 85;
/** How many uploads may wait for the decoder. */
const QUEUE = 16;

/** @param turn gives this process its turn, where several share the decoder's bound */
export function pictures(turn: Turn = IMMEDIATELY): Pictures {
  const busy = 'Too many pictures are being uploaded. Try again in a moment.';
  // One at a time bounds the memory and leaves the other threads to password hashing.
  const pool = boundedPool(1, QUEUE, busy);
  return {
    async convert(file, flows) {
      if (file.length === 0) return 'empty';
      if (file.length > LARGEST_PICTURE) return 'too large';
      const header = readHeader(file);
      if (typeof header === 'string') return header;
      const { width, height, pixelBytes } = header;
      // Checked before decoding: a file of a few bytes can declare any number of pixels.
      if (width * height * pixelBytes > MAX_DECODED_SIZE || Math.max(width, height) > MAX_SIDE)
        return 'too many pixels';
      return pool.run(() => turn(() => toSquare(file, header)), flows);
    },
  };
}

/** Crops a picture to the square in its middle and encodes it again, so that only its pixels are kept. */
async function toSquare(file: Uint8Array, header: PictureHeader): Promise<Picture | 'broken'> {
  // Loaded on first use: most processes never decode a picture.
  const { Transformer } = await import('@napi-rs/image');
  const pixels = await squarePixels(file, header);
  if (pixels === undefined || (!header.isEnded && !(await isWhole(file, header, pixels)))) return 'broken';
  const side = Math.sqrt(pixels.length / 4);
  const drawn = Transformer.fromRgbaPixels(pixels, side, side);
  // All clients can show both. Transparency is kept: the picture is shown on the color of the account.
  return isOpaque(pixels)
    ? { name: `${randomIdentifier()}.jpg`, bytes: await drawn.jpeg(JPEG_QUALITY) }
    : { name: `${randomIdentifier()}.png`, bytes: await drawn.png() };
}

/** The pixels of the square in the middle; undefined if the file cannot be decoded. */
async function squarePixels(
  file: Uint8Array,
  { width, height, orientation }: PictureHeader,
): Promise<Uint8Array | undefined> {
  const { Transformer, FastResizeFilter, ResizeFit } = await import('@napi-rs/image');
  const [across, down] = orientation < 5 ? [width, height] : [height, width];
  const side = Math.min(SIDE, across, down);
  const scale = side / Math.min(across, down);
  const [w, h] = [Math.max(side, Math.round(across * scale)), Math.max(side, Math.round(down * scale))];
  let pixels: Uint8Array;
  try {
    pixels = await new Transformer(strip(file))
      .rotate(orientation)
      .fastResize({ width: w, height: h, fit: ResizeFit.Fill, filter: FastResizeFilter.Lanczos3 })
      .crop(Math.floor((w - side) / 2), Math.floor((h - side) / 2), side, side)
      .rawPixels();
  } catch {
    return undefined;
  }
  if (pixels.length !== side * side * 4) throw new Error(`${pixels.length} bytes for a square of ${side} pixels`);
  return pixels;
}

/** More data for a scan, and the end of the file. */
const TAIL = Buffer.concat([Buffer.alloc(4096, 'more data of a scan'), Buffer.from([0xff, 0xd9])]);

/**
 * Whether a JPEG without its end lacks nothing else. The decoder fills in what is missing, so that more data changes the picture; after the
 * last block of a scan it is ignored.
 */
async function isWhole(file: Uint8Array, header: PictureHeader, pixels: Uint8Array): Promise<boolean> {
  const cut = file.at(-1) === 0xff ? file.subarray(0, -1) : file;
  const longer = await squarePixels(Buffer.concat([cut, TAIL]), header);
  return longer !== undefined && Buffer.compare(longer, pixels) === 0;
}

function isOpaque(rgba: Uint8Array): boolean {
  for (let alpha = 3; alpha < rgba.length; alpha += 4) if (rgba[alpha] !== 255) return false;
  return true;
}

export const pictureType = (name: string): string => (name.endsWith('.png') ? 'image/png' : 'image/jpeg');

const PROBLEMS: Readonly<Record<PictureProblem, readonly [kind: FailureKind, text: string]>> = {
  empty: ['invalid', 'The picture is empty: send the bytes of a JPEG, PNG or WebP file as the body.'],
  'too large': ['too large', 'The picture is larger than 1 MiB.'],
  'unsupported format': ['unsupported format', 'The picture must be a JPEG, PNG or WebP file.'],
  broken: ['invalid', 'The picture cannot be read: it is damaged or not whole.'],
  'too many pixels': ['invalid', 'The picture has too many pixels: 4096 by 4096 are enough.'],
};

/**
 * Converts a file that an operator sent.
 * @param file its bytes; `'too large'`, or anything else if there is no file
 * @param flows see {@link Pictures.convert}
 * @throws {Failure} when the file is not accepted
 */
export async function requirePicture(
  pictures: Pictures,
  file: unknown,
  flows: readonly string[] = [],
): Promise<Picture> {
  const bytes = file instanceof Uint8Array ? file : new Uint8Array();
  const picture = file === 'too large' ? file : await pictures.convert(bytes, flows);
  if (typeof picture !== 'string') return picture;
  const [kind, text] = PROBLEMS[picture];
  throw new Failure(kind, text);
}
