import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generated } from '../../docs/generate.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

for (const [path, make] of Object.entries(generated)) {
  test(`${path} says what the code says (npm run docs makes it anew)`, () => {
    assert.equal(readFileSync(join(root, path), 'utf8'), make());
  });
}

function* pages(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pages(path);
    else if (entry.name.endsWith('.md')) yield path;
  }
}

test('every link between the pages leads somewhere', () => {
  const broken: string[] = [];
  for (const page of pages(root)) {
    const text = readFileSync(page, 'utf8').replaceAll(/```.*?```/gs, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|#|mailto:)/.test(target)) continue;
      const file = join(dirname(page), target.split('#', 1)[0] ?? '');
      if (!existsSync(file)) broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});
