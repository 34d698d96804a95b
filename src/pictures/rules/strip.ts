const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Removes the parts of a file that are expensive to decode and not kept. The color profile of a PNG (`iCCP`) is compressed, and
 * a decoder decompresses all of it, up to a thousand times its size. A decoder logs every error in the EXIF data of a JPEG (APP1) to
 * standard error. WebP files are returned unchanged.
 * @param file a complete file, as checked by `readHeader`
 */
export function strip(file: Uint8Array): Uint8Array {
  const whole = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (whole.subarray(0, PNG.length).equals(PNG)) return stripPng(whole);
  return whole.readUInt16BE(0) === 0xffd8 ? stripJpeg(whole) : file;
}

function stripPng(whole: Buffer): Buffer {
  const kept: Buffer[] = [PNG];
  for (let at = PNG.length; ; ) {
    const end = at + 12 + whole.readUInt32BE(at);
    const type = whole.toString('latin1', at + 4, at + 8);
    if (type !== 'iCCP') kept.push(whole.subarray(at, end));
    if (type === 'IEND') return Buffer.concat(kept);
    at = end;
  }
}

/** Stops at the first scan: decoders look for EXIF data only before it. */
function stripJpeg(whole: Buffer): Buffer {
  const kept = [whole.subarray(0, 2)];
  for (let at = 2; ; ) {
    let marker = at + 1;
    while (whole[marker] === 0xff) marker++;
    if (whole[marker] === 0xda) return Buffer.concat([...kept, whole.subarray(at)]);
    const alone = whole[marker] === 0x01 || ((whole[marker] ?? 0) & 0xf8) === 0xd0;
    const end = marker + 1 + (alone ? 0 : whole.readUInt16BE(marker + 1));
    if (whole[marker] !== 0xe1) kept.push(whole.subarray(at, end));
    at = end;
  }
}
