// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chunk,
  drawing,
  extendedWebp,
  landscape,
  png,
  RED,
  segment,
  tiff,
  withExif,
  withSegments,
} from '../../../test/support/images.ts';
import { readHeader } from './header.ts';

const jpeg = await landscape().jpeg();
const webp = await landscape().webp();
const lossless = await landscape().webpLossless();
const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
const frameSegment = jpeg.subarray(frame, frame + 2 + jpeg.readUInt16BE(frame + 2));
const scan = jpeg.subarray(jpeg.indexOf(Buffer.from([0xff, 0xda])), -2);
const scans = (count: number) =>
  Buffer.concat([jpeg.subarray(0, -2), ...Array.from({ length: count - 1 }, () => scan), jpeg.subarray(-2)]);

const plain = { width: 200, height: 100, pixelBytes: 4, orientation: 1, isEnded: true };
const read: readonly [name: string, file: Uint8Array, header: object][] = [
  ['JPEG', jpeg, plain],
  ['JPEG without its end', jpeg.subarray(0, -2), { ...plain, isEnded: false }],
  ['JPEG, turned', withExif(jpeg, 6), { ...plain, orientation: 6 }],
  ['JPEG, broken EXIF data', withSegments(jpeg, segment(0xe1, Buffer.from('Exif\0\0MM'))), plain],
  ['JPEG, an undefined orientation', withExif(jpeg, 9), plain],
  ['JPEG, a size in an application segment', withSegments(jpeg, segment(0xe2, frameSegment)), plain],
  ['JPEG, filled markers', withSegments(jpeg, Buffer.from([0xff, 0xff])), plain],
  ['JPEG, 64 scans', scans(64), plain],
  ['JPEG with trailing data', Buffer.concat([jpeg, Buffer.from('<script>')]), plain],
  ['PNG', png(200, 100), plain],
  ['PNG, 16 bits', png(200, 100, { depth: 16 }), { ...plain, pixelBytes: 8 }],
  ['PNG, turned', png(200, 100, { extra: [chunk('eXIf', tiff(8))] }), { ...plain, orientation: 8 }],
  [
    'PNG, more pixels than could be decoded',
    png(70_000, 60_000, { data: Buffer.alloc(1) }),
    { ...plain, width: 70_000, height: 60_000 },
  ],
  ['WebP', webp, plain],
  ['WebP, lossless', lossless, plain],
  ['WebP, extended and turned', extendedWebp(webp, [200, 100], 3), { ...plain, orientation: 3 }],
  ['WebP, odd sizes', await drawing(7, 5, () => RED).webpLossless(), { ...plain, width: 7, height: 5 }],
  [
    'WebP, the largest canvas',
    extendedWebp(webp, [16_777_216, 16_777_216], 1),
    { ...plain, width: 16_777_216, height: 16_777_216 },
  ],
];
for (const [name, file, header] of read) test(`reads ${name}`, () => assert.deepEqual(readHeader(file), header));

const strange: Readonly<Record<string, string>> = {
  'nothing at all': '',
  SVG: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
  HTML: '<!doctype html><script>alert(1)</script>',
  GIF: 'GIF89a\x01\x00\x01\x00',
  BMP: 'BM\x00\x00',
  TIFF: 'II*\x00',
  PDF: '%PDF-1.7',
  'an archive': 'PK\x03\x04',
  'WebP that is none': 'RIFF\x00\x00\x00\x00WAVE',
};
for (const [name, text] of Object.entries(strange)) {
  test(`${name} is an unsupported format`, () =>
    assert.equal(readHeader(Buffer.from(text, 'latin1')), 'unsupported format'));
}

const broken: Readonly<Record<string, Uint8Array>> = {
  'a PNG without its end': png(9, 9).subarray(0, -12),
  'a PNG of no width': png(0, 9),
  'a PNG that does not begin with its header': Buffer.concat([png(9, 9).subarray(0, 8), png(9, 9).subarray(33)]),
  'a PNG whose chunk is longer than the file': png(9, 9, {
    extra: [Buffer.from([0xff, 0xff, 0xff, 0xff, 65, 65, 65, 65])],
  }),
  'a JPEG cut before its scan': jpeg.subarray(0, jpeg.indexOf(Buffer.from([0xff, 0xda]))),
  'a JPEG without a frame': Buffer.from([0xff, 0xd8, 0xff, 0xd9]),
  'a JPEG with two sizes': Buffer.concat([jpeg.subarray(0, frame), frameSegment, jpeg.subarray(frame)]),
  'a JPEG with a second size behind its scan': Buffer.concat([jpeg.subarray(0, -2), frameSegment, jpeg.subarray(-2)]),
  'a JPEG with 65 scans': scans(65),
  'a JPEG with a segment of no length': withSegments(jpeg, Buffer.from([0xff, 0xe0, 0, 1])),
  'a WebP cut in half': webp.subarray(0, webp.length / 2),
  'a WebP whose chunk is longer than the file': Buffer.from(webp).fill(0xff, 16, 20),
};
for (const [name, file] of Object.entries(broken)) {
  test(`refuses ${name}`, () => assert.equal(readHeader(file), 'broken'));
}

test('no part of a file can be left out without an answer', () => {
  for (const file of [jpeg, png(9, 9), lossless, extendedWebp(webp, [200, 100], 3)]) {
    for (let length = 0; length < file.length; length += 7) {
      const header = readHeader(file.subarray(0, length));
      assert.ok(typeof header === 'string' || !header.isEnded, `${length}`);
    }
  }
});
