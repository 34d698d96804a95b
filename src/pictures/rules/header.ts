/** The properties of a picture that can be read without decoding it. */
export interface PictureHeader {
  readonly width: number;
  readonly height: number;
  /** The size of a decoded pixel in bytes. */
  readonly pixelBytes: 4 | 8;
  /** The EXIF orientation, 1 to 8; from 5 on, width and height are swapped. */
  readonly orientation: number;
  /** Whether the file has its end. Without it, as some programs write JPEG files, its last scan may be whole or not. */
  readonly isEnded: boolean;
}

/**
 * A progressive JPEG has about ten scans. Each one costs a pass over all pixels, however short it is.
 * https://libjpeg-turbo.org/pmwiki/uploads/About/TwoIssueswiththeJPEGStandard.pdf
 */
const MAX_SCANS = 64;

/**
 * Reads the header of a JPEG, PNG or WebP picture, detected by its first bytes, and checks that the file is complete, as far as it says so.
 * @returns 'unsupported format' for any other file; 'broken' if it is incomplete or declares more than one size
 */
export function readHeader(bytes: Uint8Array): PictureHeader | 'unsupported format' | 'broken' {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = FORMATS.find(({ fits }) => within(() => fits(view), false))?.read;
  if (read === undefined) return 'unsupported format';
  const header = within(() => read(view), undefined);
  return header === undefined || header.width === 0 || header.height === 0 ? 'broken' : header;
}

/** Reads, or returns `beyond` if that reads past the end of the file (`RangeError`). */
function within<T, E>(read: () => T, beyond: E): T | E {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return beyond;
    throw error;
  }
}

const tagAt = (view: DataView, at: number): string =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

const FORMATS: readonly { fits(view: DataView): boolean; read(view: DataView): PictureHeader | undefined }[] = [
  { fits: (view) => view.getUint32(0) === 0x89504e47 && view.getUint32(4) === 0x0d0a1a0a, read: readPng },
  { fits: (view) => view.getUint16(0) === 0xffd8 && view.getUint8(2) === 0xff, read: readJpeg },
  { fits: (view) => tagAt(view, 0) === 'RIFF' && tagAt(view, 8) === 'WEBP', read: readWebp },
];

/** PNG (third edition) §5: chunks of length, type, data and checksum, from IHDR to IEND. */
function readPng(view: DataView): PictureHeader | undefined {
  if (tagAt(view, 12) !== 'IHDR') return undefined;
  let orientation = 1;
  for (let at = 8; ; at += 12 + view.getUint32(at)) {
    const type = tagAt(view, at + 4);
    if (type === 'eXIf') orientation = orientationIn(view, at + 8, view.getUint32(at));
    if (type !== 'IEND') continue;
    const pixelBytes = view.getUint8(24) === 16 ? 8 : 4;
    return { width: view.getUint32(16), height: view.getUint32(20), pixelBytes, orientation, isEnded: true };
  }
}

/** ITU T.81 §B.1: markers with their segments. A start of scan is followed by data, in which 0xff precedes 0 or a restart. */
function readJpeg(view: DataView): PictureHeader | undefined {
  let size: { width: number; height: number } | undefined;
  let orientation = 1;
  let scans = 0;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(++at);
    if (marker === 0xff) continue;
    at++;
    if (marker === 0xd9) return size && scans > 0 ? { ...size, pixelBytes: 4, orientation, isEnded: true } : undefined;
    if (isAlone(marker)) continue;
    const length = view.getUint16(at);
    if (length < 2) return undefined;
    if (isFrame(marker)) {
      if (size !== undefined) return undefined;
      size = { width: view.getUint16(at + 5), height: view.getUint16(at + 3) };
    }
    if (marker === 0xe1 && length > 8 && tagAt(view, at + 2) === 'Exif')
      orientation = orientationIn(view, at + 8, length - 8);
    at += length;
    if (marker !== 0xda) continue;
    if (++scans > MAX_SCANS) return undefined;
    const last = view.byteLength - 1;
    while (at < last && (view.getUint8(at) !== 0xff || isData(view.getUint8(at + 1)))) at++;
    if (at >= last) return size && { ...size, pixelBytes: 4, orientation, isEnded: false };
  }
}

const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7;
const isAlone = (marker: number): boolean => marker === 0x01 || isRestart(marker);
/** Whether 0xff before this byte is part of the data of a scan: an escaped 0xff, or a restart. */
const isData = (next: number): boolean => next === 0 || isRestart(next);
/** The range of the start-of-frame markers includes three markers of tables. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** WebP container (RFC 9649 §2): chunks of type, length and data; an extended file begins with the size of its canvas. */
function readWebp(view: DataView): PictureHeader | undefined {
  const end = view.getUint32(4, true) + 8;
  if (end > view.byteLength) return undefined;
  let orientation = 1;
  for (let at = 12; at + 8 <= end; ) {
    const length = view.getUint32(at + 4, true);
    if (at + 8 + length > end) return undefined;
    if (tagAt(view, at) === 'EXIF') orientation = orientationIn(view, at + 8, length);
    at += 8 + length + (length % 2);
  }
  const size = webpSize(view);
  return size && { ...size, pixelBytes: 4, orientation, isEnded: true };
}

function webpSize(view: DataView): { width: number; height: number } | undefined {
  switch (tagAt(view, 12)) {
    case 'VP8X':
      return { width: (view.getUint32(24, true) & 0xffffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 };
    case 'VP8L': {
      const packed = view.getUint32(21, true);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

/** The orientation (tag 0x0112) in the first directory of EXIF data; 1 if it is absent or cannot be read. */
function orientationIn(whole: DataView, at: number, length: number): number {
  return within(() => {
    const exif = new DataView(whole.buffer, whole.byteOffset + at, length);
    const little = exif.getUint16(0) === 0x4949;
    const directory = exif.getUint32(4, little);
    for (let left = exif.getUint16(directory, little), entry = directory + 2; left > 0; left--, entry += 12) {
      if (exif.getUint16(entry, little) !== 0x0112) continue;
      const orientation = exif.getUint16(entry + 8, little);
      return orientation >= 1 && orientation <= 8 ? orientation : 1;
    }
    return 1;
  }, 1);
}
