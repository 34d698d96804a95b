/** What a file or standard input says, or why it cannot be read as text, to follow its name. */
export type TextInput = { readonly text: string } | { readonly problem: string };

const UTF_16 = /^(\xff\xfe|\xfe\xff)/;

/**
 * Decodes UTF-8, without the byte order mark that some editors and PowerShell put in front of it. Text in another encoding is refused: read as
 * UTF-8 it would be something else than what its author sees, and a password nobody can type.
 */
export function decodeText(bytes: Uint8Array): TextInput {
  if (UTF_16.test(Buffer.from(bytes.subarray(0, 2)).toString('latin1'))) {
    return { problem: 'is in UTF-16, and must be in UTF-8 (PowerShell: Set-Content -Encoding utf8NoBOM)' };
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { problem: 'is not in UTF-8, but perhaps in Latin-1 or a code page of Windows: convert it to UTF-8' };
  }
  if (text.includes('\0')) return { problem: 'contains a NUL character, as binary files and text in UTF-16 do' };
  return { text };
}
