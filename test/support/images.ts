import { crc32, deflateSync } from 'node:zlib';
import { Transformer } from '@napi-rs/image';

type Color = readonly [red: number, green: number, blue: number, alpha?: number];

export const RED: Color = [255, 0, 0];
const GREEN: Color = [0, 255, 0];
export const BLUE: Color = [0, 0, 255];

/** A picture drawn pixel by pixel. */
export function drawing(width: number, height: number, colorAt: (x: number, y: number) => Color): Transformer {
  const pixels = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [red, green, blue, alpha = 255] = colorAt(x, y);
      pixels.set([red, green, blue, alpha], (y * width + x) * 4);
    }
  }
  return Transformer.fromRgbaPixels(pixels, width, height);
}

/** Twice as wide as high: of its middle, the left half is red with a green upper quarter, the right half is blue. */
export const landscape = (): Transformer => drawing(200, 100, (x, y) => (x >= 100 ? BLUE : y < 50 ? GREEN : RED));

/** The colour of a picture at a point, given in hundredths of its sides: the nearest of the three that we draw with. */
export async function colorIn(picture: Uint8Array, x: number, y: number): Promise<string> {
  const { width, height } = await new Transformer(picture).metadata();
  const pixels = await new Transformer(picture).fastResize({ width, height, fit: 1 }).rawPixels();
  const at = (Math.floor((height * y) / 100) * width + Math.floor((width * x) / 100)) * 4;
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
  if (alpha < 128) return 'clear';
  const most = Math.max(red, green, blue);
  return most === red ? 'red' : most === green ? 'green' : 'blue';
}

/** One chunk of a PNG file. */
export function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(data.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}

/** A black PNG file that says it has this size, whatever its data hold. */
export function png(
  width: number,
  height: number,
  { depth = 8, extra = [], data }: { depth?: 8 | 16; extra?: readonly Buffer[]; data?: Uint8Array } = {},
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, 2], 8);
  const content = data ?? Buffer.alloc((1 + (width * 3 * depth) / 8) * height);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...extra,
    chunk('IDAT', deflateSync(content)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A PNG file of exactly this many bytes. */
export function pngOfSize(bytes: number): Buffer {
  const rest = png(4, 4).length + 12;
  return png(4, 4, { extra: [chunk('teXt', Buffer.alloc(bytes - rest, 'a'))] });
}

/** EXIF data (a TIFF directory of one entry), with a text behind it such as GPS data would be. */
export const tiff = (orientation: number, text = ''): Buffer =>
  Buffer.concat([
    Buffer.from([0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]),
    Buffer.from(text),
  ]);

/** One segment of a JPEG file. */
export function segment(marker: number, data: Uint8Array): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** A JPEG file with more segments behind its first marker. */
export const withSegments = (jpeg: Uint8Array, ...more: readonly Buffer[]): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), ...more, jpeg.subarray(2)]);

export const withExif = (jpeg: Uint8Array, orientation: number, text = ''): Buffer =>
  withSegments(jpeg, segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(orientation, text)])));

/** A WebP file in its extended form, with EXIF data. */
export function extendedWebp(
  webp: Uint8Array,
  [width, height]: readonly [number, number],
  orientation: number,
): Buffer {
  const riffChunk = (type: string, data: Uint8Array): Buffer => {
    const head = Buffer.alloc(8);
    head.write(type, 'latin1');
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  const canvas = Buffer.alloc(10);
  canvas[0] = 0x08;
  canvas.writeUIntLE(width - 1, 4, 3);
  canvas.writeUIntLE(height - 1, 7, 3);
  const content = Buffer.concat([
    Buffer.from('WEBP'),
    riffChunk('VP8X', canvas),
    webp.subarray(12),
    riffChunk('EXIF', tiff(orientation)),
  ]);
  return riffChunk('RIFF', content);
}
