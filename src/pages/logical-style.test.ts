// store: none
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FOLDER = new URL('./assets/', import.meta.url);

/** Properties that name a side of the screen, and values that do: another direction of writing would have to change each. */
const PHYSICAL =
  /(?<=[;{]\s*)((?:(?:min|max)-)?(?:width|height)|left|right|top|bottom|(?:margin|padding|border|inset)-(?:left|right|top|bottom)[\w-]*|(?:text-align|float|clear)\s*:\s*(?:left|right))(?=\s*[:;}])/g;

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.css'))) {
  test(`${file} names no side of the screen, so that right-to-left needs no other rules`, () => {
    const style = readFileSync(new URL(file, FOLDER), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
    assert.deepEqual(
      [...style.matchAll(PHYSICAL)].map(([, found]) => found),
      [],
    );
  });
}

test('the rule finds what it is for', () => {
  const style = '.a { margin-left: 4px; text-align: right; width: 3px; inline-size: 4px; text-align: start }';
  assert.equal([...style.matchAll(PHYSICAL)].length, 3);
});
