// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { startRouted } from '../security/routes.ts';
import { FORM_TYPE } from '../support/api-call.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of the request behind each answer: the log has its line under that (test/operator/observing.test.ts). */
const logged = new Map<string, string>();
const note = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onResponse', (request, reply, done) => {
    logged.set(String(reply.getHeader('x-request-id')), request.id);
    done();
  });
};
subscribe('fastify.initialization', note);
const server = await startRouted();
after(() => server.close());
unsubscribe('fastify.initialization', note);

interface Answer {
  readonly status: number;
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly headers: Headers;
}

async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(server.baseUrl + path, { method, redirect: 'manual', ...init });
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  return { status, id: headers.get('x-request-id') ?? '', type, text: await response.text(), headers };
}

/** The one id that the answer names: in its header, and where it tells of it in its body. */
function assertNamed({ status, id, type, text }: Answer, shown: string): void {
  assert.match(id, UUID, `${shown}: ${status}`);
  if (type.startsWith('application/json')) {
    assert.deepEqual(Object.keys(JSON.parse(text)), ['error', 'error_description'], shown);
  } else if (text.includes('class="technical"')) {
    assert.ok(text.includes(`<code>${id}</code>`), shown);
    assert.ok(text.includes(`data-copy="${id}"`), shown);
  }
}

test('every refusal of every route names its correlation id, which is the request’s own in the log', async () => {
  const ids = new Map<string, string>();
  for (const accept of [BROWSER, 'application/json']) {
    for (const { method, url } of server.routes) {
      const path = url.replaceAll(/:\w+/g, '1');
      for (const asked of [method, 'PROPFIND']) {
        const answer = await send(asked, path, { headers: { accept } });
        const shown = `${asked} ${url} for ${accept}`;
        if (answer.status < 400) continue;
        if (asked !== 'HEAD') assertNamed(answer, shown);
        assert.ok(!ids.has(answer.id), shown);
        ids.set(answer.id, shown);
        // A form that is shown again is a page for everybody.
        const shownAgain = answer.text.includes('<form');
        if (accept !== BROWSER && !shownAgain) assert.match(answer.type, /^application\/json/, shown);
      }
    }
  }
  assert.ok(ids.size > server.routes.length);
  for (const [id, shown] of ids) assert.equal(logged.get(id), id, shown);
});

test('what is refused before it reaches a page is a page for a browser, which says what to do', async () => {
  const form = (body: string, type = FORM_TYPE): RequestInit => ({
    headers: { accept: BROWSER, 'content-type': type },
    body,
  });
  const cases: [number, RegExp, Promise<Answer>][] = [
    [404, /Page not found/, send('GET', '/nowhere', { headers: { accept: BROWSER } })],
    [404, /href="\/account"/, send('GET', '/elsewhere', { headers: { accept: BROWSER } })],
    [405, /Nothing to show at this address/, send('GET', '/account/password', { headers: { accept: BROWSER } })],
    [400, /could not be read/, send('GET', '/%ff', { headers: { accept: BROWSER } })],
    [413, /This is too large/, send('POST', '/login', form('a'.repeat(70_000)))],
    [414, /too long/, send('GET', `/login?${'a'.repeat(17_000)}`, { headers: { accept: BROWSER } })],
    [415, /This format is not supported/, send('POST', '/login', form('a', 'text/plain'))],
    [400, /has expired/, send('GET', '/login?request=unknown', { headers: { accept: BROWSER } })],
  ];
  for (const [status, text, sent] of cases) {
    const answer = await sent;
    assert.equal(answer.status, status, String(text));
    assert.match(answer.type, /^text\/html/, String(text));
    assert.match(answer.text, text);
    assert.match(answer.text, /class="technical"/);
    // A sign-in that was begun by an app goes on there.
    if (!answer.text.includes('Go back to the app')) assert.match(answer.text, /href="\/account"/, String(text));
    assertNamed(answer, String(text));
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  }
  const wrong = await send('GET', '/account/password', { headers: { accept: BROWSER } });
  assert.equal(wrong.headers.get('allow'), 'POST');
});

test('outside the pages an error is JSON, whatever Accept says', async () => {
  for (const path of [
    '/api/v3/x',
    '/API/v2',
    '//api/v2',
    '/oauth/token',
    '/oidc/nothing',
    '/.well-known/x',
    '/health/x',
  ]) {
    const answer = await send('GET', path, { headers: { accept: BROWSER } });
    assert.match(answer.type, /^application\/json/, path);
    assertNamed(answer, path);
  }
  // And so it is for a program that says nothing of pages.
  for (const accept of ['*/*', 'application/json, text/plain, */*']) {
    assert.match((await send('GET', '/nowhere', { headers: { accept } })).type, /^application\/json/, accept);
  }
});
