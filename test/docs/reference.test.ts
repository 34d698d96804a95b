// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generated } from '../../docs/generate.ts';
import { contents, deadLink, links, pages, read } from '../../docs/site/markdown.ts';
import { blocksOf } from './blocks.ts';

for (const [path, make] of Object.entries(generated)) {
  test(`${path} says what the code says (npm run docs makes it anew)`, () => {
    assert.equal(read(path), make());
  });
}

test('every figure is of a kind that Prometheus knows, and the one of requests says what it is told apart by', () => {
  const rows = [...read('docs/reference/metrics.md').matchAll(/^\| `(tessera_\w+)` \| (\S*) \| (.*?) ?\|/gm)];
  assert.ok(rows.length > 5);
  for (const [, name = '', kind = ''] of rows) assert.match(kind, /^(counter|gauge|histogram|summary)$/, name);
  const requests = rows.find(([, name]) => name === 'tessera_http_request_duration_seconds');
  assert.equal(requests?.[3], '`method`, `route`, `status`');
});

test('every link of every page leads to a file, and to a heading where it names one', () => {
  const dead = [...pages()].flatMap((page) => links(read(page)).flatMap((link) => deadLink(page, link) ?? []));
  assert.deepEqual(dead, []);
});

test('a link to nothing, out of the repository or to a heading that is not there is found dead', () => {
  for (const link of ['nowhere.md', '../../..', '../README.md#no-such-heading', '#nor-this']) {
    assert.notEqual(deadLink('docs/tutorial/first-sign-in.md', link), undefined, link);
  }
  assert.equal(deadLink('docs/tutorial/first-sign-in.md', '../../README.md#the-first-five-minutes'), undefined);
});

test('docs/README.md lists every page once', () => {
  const listed = contents().flatMap((section) => section.pages.map(({ path }) => path));
  const all = [...pages('docs'), 'docs/reference/design.html'].filter((path) => path !== 'docs/README.md');
  assert.deepEqual(listed.toSorted(), all.toSorted());
});

test('every block of the documentation says its language, and why it is not run where it is not', () => {
  for (const block of [...pages('docs'), 'README.md'].flatMap(blocksOf)) {
    assert.notEqual(block.language, '', `${block.place} names no language`);
    assert.notEqual(block.notRun, '', `${block.place} does not say why`);
  }
});
