// store: none
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assets, compactStyle } from './assets.ts';

test('a style sheet loses comments and white space, and nothing that means something', () => {
  const css = `/* Ground; { */
a:hover,
.b > :is(c, d) {
  margin: -4px 0;
  content: "· ";
}
@media (min-width: 3rem) {
  .e .f:not([g]) { color: light-dark(#fff, oklch(1% 0 0 / 4%)); }
}
`;
  assert.equal(
    compactStyle(css),
    'a:hover,.b > :is(c,d){margin: -4px 0;content: "· ";}@media (min-width: 3rem){.e .f:not([g]){color: light-dark(#fff,oklch(1% 0 0 / 4%));}}',
  );
});

test('no string of the style sheets contains what is removed', () => {
  for (const name of ['style', 'playground'] as const) {
    const source = readFileSync(new URL(`./assets/${name}.css`, import.meta.url), 'utf8');
    for (const [text] of source.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/"[^"]*"/g)) {
      assert.doesNotMatch(text, /\/\*|[{};,]|\s{2}/);
      assert.ok(assets[name].body.includes(text), text);
    }
  }
});
