// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assets } from '../../src/pages/assets.ts';
import { startRouted } from '../security/routes.ts';

const pages = new Map<string, { headers: Headers; text: string }>();
const server = await startRouted();
after(() => server.close());
const paths = server.routes.filter(({ url }) => /^\/api(\/[a-z-]+)?$/.test(url)).map(({ url }) => url);
for (const path of paths) {
  const answer = await fetch(server.baseUrl + path);
  assert.equal(answer.status, 200, path);
  pages.set(path, { headers: answer.headers, text: await answer.text() });
}

test('every operation stands on the page of its area, with its call, its fields and a command', () => {
  assert.ok(server.described.length > 35);
  for (const { method, schema, url } of server.described) {
    const text = pages.get(`/api/${schema.area}`)?.text ?? '';
    const start = text.indexOf(`id="${schema.operationId}"`);
    const own = text.slice(start, text.indexOf('</section>', start));
    assert.ok(start > 0, schema.operationId);
    assert.ok(own.includes(`<b>${method}</b> ${url.replaceAll(/:(\w+)/g, '{$1}')}<`), schema.operationId);
    assert.match(own, new RegExp(`curl -si? &#39;${server.baseUrl}`), schema.operationId);
    for (const { file, answer, status } of schema.examples) {
      if (file !== undefined) assert.match(own, /--data-binary @picture\.jpeg/, schema.operationId);
      if (answer === undefined && status !== 200) assert.match(own, /curl -si/, schema.operationId);
    }
    for (const status of Object.keys(schema.response ?? {}).filter((it) => Number(it) < 400)) {
      assert.ok(own.includes(`<code>${status}</code>`), `${schema.operationId} ${status}`);
    }
    assert.ok(pages.get('/api')?.text.includes(`href="/api/${schema.area}#${schema.operationId}"`), schema.operationId);
  }
});

test('every field of a body is explained where the call is', () => {
  for (const { schema } of server.described) {
    const { properties = {} } = (schema.body ?? {}) as { properties?: object };
    for (const name of Object.keys(properties)) {
      assert.ok(
        pages.get(`/api/${schema.area}`)?.text.includes(`<code>${name}</code>`),
        `${schema.operationId} ${name}`,
      );
    }
  }
});

test('an example repeats no response of its page, but names what differs from it', () => {
  const text = pages.get('/api/clients')?.text ?? '';
  const [, changed = ''] = text.slice(text.indexOf('id="updateClient"')).split('the same in a response above:');
  const shown = /<code>(.*?)<\/code>/s.exec(changed)?.[1]?.replaceAll('&quot;', '"') ?? '';
  assert.deepEqual(JSON.parse(shown), { status: 'disabled' });
});

test('a page loads nothing but our own files, weighs less than 76 KiB with them, and every link in it leads somewhere', () => {
  for (const [path, { headers, text }] of pages) {
    const loaded = Object.values(assets).filter((asset) => text.includes(`"${asset.path}"`));
    const own = loaded.reduce((sum, { body }) => sum + body.length, 0);
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'self'; script-src 'self'/,
    );
    assert.ok(Buffer.byteLength(text) + own < 76 * 1024, `${path}: ${Buffer.byteLength(text) + own} bytes`);
    assert.doesNotMatch(text, /`|undefined|\[object|<p><\/p>/, path);
    for (const [, target = ''] of text.matchAll(/ href="([^"]+)"/g)) {
      const [address = '', id] = target.split('#');
      const page = address === '' ? text : pages.get(address)?.text;
      if (id !== undefined) assert.ok(page?.includes(` id="${id}"`), `${path} → ${target}`);
      else assert.ok(page !== undefined || /^\/(openapi\.json|assets\/.+)?$/.test(address), target);
    }
  }
});

test('decisions §9: an address under /api/ that is no page is 404 as JSON', async () => {
  for (const path of ['/api/v3', '/api/v3/oauth/token', '/api/nothing']) {
    const answer = await fetch(server.baseUrl + path, { headers: { accept: 'text/html' } });
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as { error: string }).error, 'invalid_request');
  }
});
