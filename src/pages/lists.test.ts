// store: none
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { html } from './html.ts';
import { joinList } from './lists.ts';

const cases: readonly [language: string, values: readonly string[], expected: string][] = [
  ['en', [], ''],
  ['en', ['one'], 'one'],
  ['en', ['one', 'two'], 'one and two'],
  ['en', ['one', 'two', 'three'], 'one, two and three'],
  ['de', ['eins', 'zwei', 'drei'], 'eins, zwei und drei'],
  ['tr', ['bir', 'iki'], 'bir ve iki'],
];

for (const [language, values, expected] of cases) {
  test(`a list of ${values.length} in ${language}`, () => {
    assert.equal(html`${joinList(values, { language })}`.text, expected);
  });
}

test('values of a list may be markup, and text is escaped', () => {
  assert.equal(html`${joinList([html`<bdi>a</bdi>`, '<b>'], { language: 'en' })}`.text, '<bdi>a</bdi> and &lt;b&gt;');
});

test('a list that stands alone has no word for the last', () => {
  assert.equal(html`${joinList(['a', 'b', 'c'], { language: 'en' }, 'enumeration')}`.text, 'a, b, c');
});

/** What joins or counts by hand, in the sources of pages and mails. What developers read stays as it is. */
const BY_HAND = /&& ', '|\.join\(', '\)|\(s\)|getUTC(?:Date|Month|FullYear)|\bjoin\(' (?:and|or) '\)/;
const FOR_DEVELOPERS = /authorize|playground|openapi|error-page|bulk\/lists/;

test('lists and dates of pages and mails are those of Intl', () => {
  const found: string[] = [];
  for (const folder of ['pages', 'web', 'console', 'mail', 'account-actions/notices']) {
    const at = new URL(`../${folder}/`, import.meta.url);
    for (const file of readdirSync(at, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts') || FOR_DEVELOPERS.test(`${folder}/${file}`)) continue;
      const lines = readFileSync(new URL(file, at), 'utf8').split('\n');
      for (const [index, line] of lines.entries()) {
        if (BY_HAND.test(line)) found.push(`${folder}/${file}:${index + 1}: ${line.trim()}`);
      }
    }
  }
  assert.deepEqual(found, []);
});
