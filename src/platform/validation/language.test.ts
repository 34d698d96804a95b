// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageTag, textDirection } from './language.ts';

test('RFC 5646: tags are written in one way', () => {
  for (const [text, tag] of [
    ['en', 'en'],
    ['EN', 'en'],
    ['PT-br', 'pt-BR'],
    ['zh-hant', 'zh-Hant'],
    ['zh-Hant-TW', 'zh-Hant-TW'],
    ['sr-Latn', 'sr-Latn'],
    ['es-419', 'es-419'],
    ['de-CH-1996', 'de-CH-1996'],
    ['iw', 'he'],
  ] as const) {
    assert.equal(languageTag(text), tag, text);
  }
});

test('what is no tag, or has no language of two letters, is refused', () => {
  for (const text of [
    '',
    'e',
    'english',
    'fil',
    'en_US',
    'en-',
    '-en',
    'en US',
    'x-private',
    'zh-cmn',
    '12',
    'en-abcdefghi',
    `en-${'x-a-'.repeat(20)}a`,
  ])
    assert.equal(languageTag(text), undefined, text);
});

test('the direction of a language is that of the script in which it is usually written, or of the one that it names', () => {
  const rightToLeft = ['ar', 'he', 'fa-IR', 'ur', 'az-Arab', 'pa-PK'];
  const leftToRight = ['en', 'tr', 'pt-BR', 'zh-Hant', 'ks-Deva', 'az'];
  for (const tag of rightToLeft) assert.equal(textDirection(tag), 'rtl', tag);
  for (const tag of leftToRight) assert.equal(textDirection(tag), 'ltr', tag);
});
