// store: none
/** The colors of the style sheet: WCAG 2.2, 1.4.3 (text) and 1.4.11 (edges of controls, focus ring). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const style = readFileSync(new URL('./assets/style.css', import.meta.url), 'utf8');

/** The luminance of a color in OKLCH (https://www.w3.org/TR/css-color-4/#color-conversion-code). */
function luminance(text: string): number {
  const [lightness = 0, chroma = 0, hue = 0] =
    text === '#fff' ? [100, 0, 0] : [...text.matchAll(/[\d.]+/g)].map(([number]) => Number(number));
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const cube = (x: number, y: number) => (lightness / 100 + x * a + y * b) ** 3;
  const l = cube(0.3963377773761749, 0.2158037573099136);
  const m = cube(-0.1055613458156586, -0.0638541728258133);
  const s = cube(-0.0894841775298119, -1.2914855480194092);
  return -0.0405757452148008 * l + 1.112286803280317 * m - 0.0717110580655164 * s;
}

function contrast(one: string, other: string, dark: boolean): number {
  const [more = 0, less = 0] = [one, other]
    .map((name) => {
      const colors = new RegExp(`--${name}: light-dark\\((#fff|oklch\\(.*?\\)), (oklch\\(.*?\\))\\);`).exec(style);
      return luminance(colors?.[dark ? 2 : 1] ?? assert.fail(name));
    })
    .toSorted((x, y) => y - x);
  return (more + 0.05) / (less + 0.05);
}

for (const dark of [false, true]) {
  test(`contrast in ${dark ? 'dark' : 'light'}: 4.5 for text, 3 for edges and the focus ring`, () => {
    for (const ground of ['paper', 'card', 'tint']) {
      for (const text of ['ink', 'muted', 'accent']) {
        assert.ok(contrast(text, ground, dark) >= 4.5, `${text} on ${ground}`);
      }
    }
    for (const ground of ['paper', 'card']) {
      assert.ok(contrast('danger', ground, dark) >= 4.5, `danger on ${ground}`);
      for (const edge of ['edge', 'good']) assert.ok(contrast(edge, ground, dark) >= 3, `${edge} on ${ground}`);
    }
    assert.ok(contrast('on-accent', 'accent', dark) >= 4.5, 'the primary button');
  });
}
