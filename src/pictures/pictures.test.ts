// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import { Transformer } from '@napi-rs/image';
import { chunk, png } from '../../test/support/images.ts';
import { Failure } from '../platform/failure.ts';
import { type Picture, pictures } from './pictures.ts';

test('of many uploads at once some wait and the rest are refused with Retry-After', async () => {
  const { convert } = pictures();
  const settled = await Promise.allSettled(Array.from({ length: 40 }, () => convert(png(3, 3))));
  const made = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value as Picture] : []));
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Failure] : []));
  // One is decoded while sixteen wait.
  assert.equal(made.length, 17);
  assert.equal(new Set(made.map(({ name }) => name)).size, 17);
  for (const error of refused) {
    assert.ok(error instanceof Failure);
    assert.deepEqual([error.kind, error.retryAfter], ['unavailable', 2]);
  }
});

test('at most sixteen million pixels are accepted, or half as many with twice the depth', async () => {
  const { convert } = pictures();
  const lie = { data: Buffer.alloc(9) };
  assert.equal(await convert(png(4096, 4096, lie)), 'broken');
  assert.equal(await convert(png(4096, 4097, lie)), 'too many pixels');
  assert.equal(await convert(png(4096, 4096, { ...lie, depth: 16 })), 'too many pixels');
  assert.equal(await convert(png(16_385, 1, lie)), 'too many pixels');
  assert.equal(typeof (await convert(png(16_384, 1))), 'object');
});

test('a color profile that decompresses to 512 MiB is not decompressed', async () => {
  const { convert } = pictures();
  const mebibyte = deflateRawSync(Buffer.alloc(1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH });
  const name = Buffer.from('profile\0\0');
  const compressed = [Buffer.from([0x78, 0x9c]), ...Array.from({ length: 512 }, () => mebibyte)];
  const file = png(9, 9, { extra: [chunk('iCCP', Buffer.concat([name, ...compressed]))] });
  const before = process.resourceUsage().maxRSS;
  assert.equal(typeof (await convert(file)), 'object');
  assert.ok(process.resourceUsage().maxRSS - before < 64 * 1024, 'in KiB');
});

test('a JPEG without its end marker is taken, and one that lacks a part of its pixels is refused', async () => {
  const { convert } = pictures();
  const [width, height] = [200, 200];
  const noise = Buffer.from(Array.from({ length: width * height * 4 }, (_, index) => (index * 7919) % 251));
  const whole = await Transformer.fromRgbaPixels(noise, width, height).jpeg();
  const refused: number[] = [];
  for (const missing of [0, 1, 2]) {
    assert.equal(typeof (await convert(whole.subarray(0, whole.length - missing))), 'object', `${missing} bytes`);
  }
  for (const missing of [20, 200, 2000, Math.floor(whole.length / 2)]) {
    if ((await convert(whole.subarray(0, whole.length - missing))) === 'broken') refused.push(missing);
  }
  assert.deepEqual(refused, [20, 200, 2000, Math.floor(whole.length / 2)]);
});
