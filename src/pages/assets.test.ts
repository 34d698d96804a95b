// store: none
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { assets, compactScript, compactStyle, serveAssets } from './assets.ts';

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
  for (const name of ['style', 'playground', 'operators'] as const) {
    const source = readFileSync(new URL(`./assets/${name}.css`, import.meta.url), 'utf8');
    for (const [text] of source.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/"[^"]*"/g)) {
      assert.doesNotMatch(text, /\/\*|[{};,]|\s{2}/);
      assert.ok(assets[name].body.includes(text), text);
    }
  }
});

test('a script loses comments and indentation, and nothing that means something', () => {
  const script = `// Says what it is.
/** One line. */
let one = 1; // stays
/**
 * Of many
 * @param two lines
 */
if (one) {
  // Why.
  one = 'https://a.example // b';
}
`;
  assert.equal(compactScript(script), "let one = 1; // stays\nif (one) {\none = 'https://a.example // b';\n}\n");
});

test('no template literal of the scripts spans lines', () => {
  for (const name of ['operators', 'passkeys', 'picture', 'script', 'strength']) {
    const source = readFileSync(new URL(`./assets/${name}.js`, import.meta.url), 'utf8');
    for (const line of source.split('\n')) assert.equal((line.match(/`/g) ?? []).length % 2, 0, line);
  }
});

test('assets are sent in the smallest coding that the client accepts, and as they are to others', async () => {
  const app = fastify();
  serveAssets(app);
  const { path, body } = assets.style;
  const decode = { br: brotliDecompressSync, gzip: gunzipSync } as const;
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['gzip', 'gzip'],
    ['br;q=0.5', 'br'],
    ['identity', undefined],
    ['', undefined],
  ] as const) {
    const answer = await app.inject({ url: path, headers: { 'accept-encoding': accepted } });
    assert.equal(answer.headers['content-encoding'], coding, accepted);
    assert.equal(answer.headers.vary, 'accept-encoding');
    const sent = answer.rawPayload;
    assert.ok((coding === undefined ? sent : decode[coding](sent)).equals(body), accepted);
  }
});

test('the script of the console is small', () => assert.ok(assets.operatorsScript.body.length <= 8 * 1024));
