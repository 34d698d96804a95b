// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressSearchText,
  asciiDomain,
  asciiEmail,
  canonicalDomain,
  canonicalListed,
  hostOf,
  nonAsciiLocalPart,
  readableDomain,
} from './domain-name.ts';

for (const [typed, ascii] of [
  ['Example.COM', 'Example.COM'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.Example', 'xn--bcher-kva.example'],
  ['bu\u0308cher.example', 'xn--bcher-kva.example'],
  ['bücher。example', 'xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  // Nontransitional: the deviations of IDNA2003 stay what they are.
  ['faß.example', 'xn--fa-hia.example'],
  ['xn--fa-hia.example', 'xn--fa-hia.example'],
  ['φως.example', 'xn--3xahj.example'],
  ['φωσ.example', 'xn--4xafj.example'],
  // A joiner only where the script needs it (RFC 5892, appendix A).
  ['نامه\u200cای.example', 'xn--mgba3gch31f060k.example'],
  ['a\u200db.example', undefined],
  ['a\u00adb.example', 'ab.example'],
  ['אa.example', undefined],
  ['\u0301a.example', undefined],
  // A-labels that stand for no label.
  ['xn--a.example', undefined],
  ['xn--abc-.example', undefined],
  ['b%C3%BCcher.example', undefined],
  ['bücher.example:80', undefined],
  ['bücher.example/', undefined],
  ['exa／mple.com', undefined],
  ['１.２.３.４', undefined],
  ['bücher.example.', undefined],
  ['müller..example', undefined],
  ['bücher', undefined],
  ['-ü.example', undefined],
  ['ü-.example', undefined],
  [`${'ü'.repeat(50)}.example`, `xn--td${'a'.repeat(50)}.example`],
  [`${'ü'.repeat(60)}.example`, undefined],
  [`${'ü.'.repeat(40)}example`, undefined],
  ['\ud800.example', undefined],
] as const) {
  test(`the ASCII form of ${JSON.stringify(typed).slice(0, 60)}`, () => {
    const found = asciiDomain(typed);
    assert.equal(found, ascii);
    if (found !== undefined) assert.equal(asciiDomain(found), found, 'it is its own ASCII form');
  });
}

for (const [ascii, shown] of [
  ['Example.COM', 'Example.COM'],
  ['xn--bcher-kva.example', 'bücher.example'],
  ['xn--80adxhks.xn--p1ai', 'москва.рф'],
  ['xn--zckzah9945czlbtz6h.example', '日本語テスト.example'],
  ['xn--bcher-kva.xn--p1ai', 'bücher.рф'],
  // Latin with one Cyrillic letter, Latin with Devanagari, and Cyrillic letters that look like Latin ones.
  ['xn--paypl-7ve.example', 'xn--paypl-7ve.example'],
  ['xn--e-wvds7d.example', 'xn--e-wvds7d.example'],
  ['xn--80ak6aa92e.example', 'xn--80ak6aa92e.example'],
  ['xn--80ak6aa92e.xn--p1ai', 'аррӏе.рф'],
  // Signs, and characters that cannot be seen.
  ['xn--53h.example', 'xn--53h.example'],
  ['xn--mgba3gch31f060k.example', 'xn--mgba3gch31f060k.example'],
  ['xn--a.example', 'xn--a.example'],
] as const) {
  test(`${ascii} is shown as ${shown}`, () => assert.equal(readableDomain(ascii), shown));
}

test('an address has ASCII before the at sign, and at most 254 characters in its ASCII form', () => {
  assert.equal(asciiEmail('Jorg@Bücher.example'), 'Jorg@xn--bcher-kva.example');
  assert.equal(asciiEmail('jörg@bücher.example'), undefined);
  assert.equal(nonAsciiLocalPart('jörgö@bücher.example'), 'ö');
  assert.equal(nonAsciiLocalPart('jorg@bücher.example'), '');
  assert.equal(nonAsciiLocalPart('bücher'), '');
  const local = 'a'.repeat(64);
  const domain = `${'ü'.repeat(20)}.`.repeat(7);
  assert.ok(`${local}@${domain}example`.length < 254);
  assert.equal(asciiEmail(`${local}@${domain}example`), undefined);
});

test('a search finds whole labels of a domain as they are stored', () => {
  for (const [text, sought] of [
    ['jorg@bücher.example', 'jorg@xn--bcher-kva.example'],
    ['BÜCHER', 'xn--bcher-kva'],
    ['Zoë Müller', 'Zoë Müller'],
    ['50%ü', '50%ü'],
    ['1.2', '1.2'],
  ] as const) {
    assert.equal(addressSearchText(text), sought);
  }
});

test('every spelling of a host is compared in one form', () => {
  for (const url of [
    'https://app.example/',
    'https://app.example./',
    'https://APP.Example:8443/',
    'https://app%2Eexample/',
    'https://app\u3002example/',
  ]) {
    assert.equal(hostOf(url), 'app.example', url);
  }
  assert.equal(hostOf('https://bücher.example./'), canonicalDomain('Bücher.Example.'));
  assert.deepEqual(['https://127.1./', 'https://[0:0::1]/'].map(hostOf), ['127.0.0.1', '[::1]']);
  assert.deepEqual(['app..', '.app.example', '.', ''].map(canonicalDomain), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  const listed = ['.App.Example.', 'LocalHost', '.localhost.', '..app.example', '127.0.0.1'].map(canonicalListed);
  assert.deepEqual(listed, ['.app.example', 'localhost', '.localhost', undefined, undefined]);
});
