// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formats } from './formats.ts';

const names: readonly string[] = [
  'Ada Lovelace',
  '佐藤',
  '한나',
  'أحمد',
  // With a joiner that Persian needs, and one that makes an emoji.
  'می\u200cخواهم',
  '👩\u200d🚀',
  '-',
  '.',
  '7',
  '\u3164a',
  'e\u0301',
];
for (const name of names) {
  test(`a name with a visible character: ${JSON.stringify(name)}`, () => {
    assert.equal(formats['single-line'](name), true);
  });
}

/** By their code points, since they all look the same. */
const blank: Readonly<Record<string, string>> = {
  'no-break space between others': '\u200b\u00a0\u200b',
  'zero width space': '\u200b',
  'zero width joiner and non-joiner': '\u200d\u200c',
  'word joiner, invisible times': '\u2060\u2062',
  'soft hyphen': '\u00ad',
  'Hangul filler': '\u3164',
  'Hangul choseong and jungseong filler': '\u115f\u1160',
  'halfwidth Hangul filler': '\uffa0',
  'Braille blank': '\u2800',
  'combining grapheme joiner': '\u034f',
  'combining marks alone': '\u0301\u0302',
  'variation selectors': '\ufe0f\u{e0100}',
  'Mongolian vowel separator': '\u180e',
  'Khmer inherent vowels': '\u17b4\u17b5',
  'interlinear annotation': '\ufff9\ufffb',
  'tag characters': '\u{e0041}\u{e007f}',
  'private use': '\ue000',
  unassigned: '\u{50000}',
  'Egyptian blanks': '\u{13441}\u{13442}',
  'null notehead': '\u{1d159}',
  'ideographic space between others': '\u2800\u3000\u2800',
};
for (const [what, name] of Object.entries(blank)) {
  test(`a name without visible characters is rejected: ${what}`, () => {
    assert.equal(formats['single-line'](name), false);
  });
}

test('bidirectional formatting characters are rejected anywhere in a name', () => {
  for (const control of ['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e']) {
    assert.equal(formats['single-line'](`a${control}b`), false);
  }
  for (const isolate of ['\u2066', '\u2067', '\u2068', '\u2069']) {
    assert.equal(formats['single-line'](`a${isolate}b`), false);
  }
});
