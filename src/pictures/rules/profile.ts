const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * A PNG file without its colour profile (`iCCP`): that is packed, and a decoder unpacks all of it, a thousand times what came,
 * for nothing that is kept. Other files pack nothing but their pixels, or leave it packed.
 * @param file whole, as `readHeader` found it
 */
export function withoutProfile(file: Uint8Array): Uint8Array {
  const whole = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (!whole.subarray(0, PNG.length).equals(PNG)) return file;
  const kept: Buffer[] = [PNG];
  for (let at = PNG.length; ; ) {
    const end = at + 12 + whole.readUInt32BE(at);
    const type = whole.toString('latin1', at + 4, at + 8);
    if (type !== 'iCCP') kept.push(whole.subarray(at, end));
    if (type === 'IEND') return Buffer.concat(kept);
    at = end;
  }
}
