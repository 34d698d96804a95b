// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunk, landscape, png, segment, tiff, withExif, withSegments } from '../../../test/support/images.ts';
import { strip } from './strip.ts';

const jpeg = await landscape().jpeg();

test('strip removes the color profile of a PNG, and anything after its end', () => {
  const plain = png(9, 9, { extra: [chunk('gAMA', Buffer.alloc(4, 1))] });
  const profile = chunk('iCCP', Buffer.from('name\0\0packed'));
  const file = png(9, 9, { extra: [profile, chunk('gAMA', Buffer.alloc(4, 1)), profile] });
  assert.deepEqual(strip(Buffer.concat([file, Buffer.from('<script>')])), plain);
});

test('strip removes the EXIF data of a JPEG and nothing else', () => {
  assert.deepEqual(strip(withExif(jpeg, 6)), jpeg);
  const comment = segment(0xfe, Buffer.from('a comment'));
  const exif = segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(3)]));
  assert.deepEqual(
    strip(withSegments(jpeg, exif, comment, Buffer.from([0xff]), exif)),
    Buffer.from(withSegments(jpeg, comment)),
  );
  const restart = Buffer.from([0xff, 0xd0]);
  assert.deepEqual(strip(withSegments(jpeg, restart, exif)), Buffer.from(withSegments(jpeg, restart)));
});

test('strip returns a WebP unchanged', async () => {
  const webp = await landscape().webp();
  assert.equal(strip(webp), webp);
});
