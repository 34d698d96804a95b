// store: none
/** The style sheet, the icon and mails show one brand. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderMail } from '../mail/rules/render.ts';
import { BRAND, type Color, cssColor, hexColor } from '../platform/brand.ts';

const asset = (name: string): string => readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
const shown = (color: Color): string => (color.lightness === 1 ? '#fff' : cssColor(color));

test('the style sheet has the accents of the brand, for light and dark screens', () => {
  const style = asset('style.css');
  const { light, dark } = BRAND;
  assert.ok(style.includes(`--accent: light-dark(${shown(light.accent)}, ${shown(dark.accent)});`));
  assert.ok(style.includes(`--on-accent: light-dark(${shown(light.onAccent)}, ${shown(dark.onAccent)});`));
});

test('the icon has its name and its accents', () => {
  const icon = asset('icon.svg');
  for (const part of [BRAND.name, hexColor(BRAND.light.accent), hexColor(BRAND.dark.accent)]) {
    assert.ok(icon.includes(part), part);
  }
});

test('a mail has its name above and its accents on the button and the link', () => {
  const action = { label: 'Go', url: 'https://id.example' };
  const { html } = renderMail({ subject: 'S', paragraphs: ['P'], action }, { host: 'id.example' });
  assert.match(html, new RegExp(`>${BRAND.name}</p>`));
  for (const part of [`background: ${hexColor(BRAND.light.accent)}`, `color: ${hexColor(BRAND.light.accent)}">https`]) {
    assert.ok(html.includes(part), part);
  }
  assert.ok(html.includes(`.link { color: ${hexColor(BRAND.dark.accent)}`));
});

test('a color is converted as browsers do', () => {
  assert.equal(hexColor({ lightness: 0.42, chroma: 0.15, hue: 330 }), '#772473');
  assert.equal(hexColor({ lightness: 1, chroma: 0, hue: 0 }), '#ffffff');
  assert.equal(hexColor({ lightness: 0, chroma: 0, hue: 0 }), '#000000');
});

test('no text of pages and mails names the product by itself', () => {
  const found: string[] = [];
  for (const folder of ['pages', 'web', 'console', 'mail']) {
    const at = new URL(`../${folder}/`, import.meta.url);
    for (const file of readdirSync(at, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const code = readFileSync(new URL(file, at), 'utf8').replaceAll(/\/\*.*?\*\/|^\s*\/\/.*$/gms, '');
      if (code.includes(BRAND.name)) found.push(`${folder}/${file}`);
    }
  }
  assert.deepEqual(found, []);
});
