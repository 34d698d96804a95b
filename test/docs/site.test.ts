import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../../docs/site/markdown.ts';

const output = mkdtempSync(join(tmpdir(), 'tessera-site-'));
after(() => rmSync(output, { recursive: true, force: true }));

test('the site is built, with nothing from elsewhere, and every address on it is there', () => {
  const eleventy = join(root, 'node_modules/@11ty/eleventy/cmd.cjs');
  const built = spawnSync(
    process.execPath,
    [eleventy, '--config=docs/site/eleventy.config.ts', `--output=${output}`, '--quiet'],
    { cwd: root, encoding: 'utf8' },
  );
  assert.equal(built.status, 0, built.stdout + built.stderr);

  const pages = new Map(
    globSync('**/*.html', { cwd: output }).map((path) => [path, readFileSync(join(output, path), 'utf8')]),
  );
  const files = new Set(globSync('**/*.*', { cwd: output }));
  assert.ok(pages.size > 40 && pages.has('index.html') && pages.has('reference/design.html'));
  const wrong: string[] = [];
  for (const [page, markup] of pages) {
    assert.doesNotMatch(markup, /<th><\/th>|<script|(?:src|<link[^>]*href)="(?:https?:)?\/\//, page);
    for (const [, address = ''] of markup.matchAll(/<[^>]*? (?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(address)) continue;
      const [path = '', anchor] = address.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      const isThere = files.has(file) && (anchor === undefined || pages.get(file)?.includes(` id="${anchor}"`));
      if (!isThere) wrong.push(`${page}: ${address}`);
    }
  }
  assert.deepEqual(wrong, []);
});
