// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, agent } from '../support/agent.ts';
import { admin, newClient, newUser, signedIn } from '../support/flow.ts';
import { assertStaysHere, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §3, AZ-01: with an invalid client or redirect URI there is never a redirect, even if more is wrong.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const other = await newClient(server, { redirectUris: ['https://other.example.com/callback'] });
const disabled = await newClient(server);
await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
const browsers = { 'signed out': agent(server.baseUrl), 'signed in': await signedIn(server, await newUser(server)) };

type Pair = readonly [string, string];
const ATTACKER = 'https://evil.example/steal';

/** The client and the redirect URI of a request, each of them wrong in one way. */
const faults: Record<string, () => readonly Pair[]> = {
  'no client_id': () => [['redirect_uri', client.redirectUri]],
  'no client_id and an unknown redirect_uri': () => [['redirect_uri', ATTACKER]],
  'an empty client_id': () => target('', client.redirectUri),
  'an unknown client_id': () => target('123456789012345678', ATTACKER),
  'a client_id that is no id': () => target('my-app', ATTACKER),
  'a client_id with a space before it': () => target(` ${client.clientId}`, client.redirectUri),
  'a client_id with a leading zero': () => target(`0${client.clientId}`, client.redirectUri),
  'a client_id beyond 64 bits': () => target('99999999999999999999', client.redirectUri),
  'the client_id twice': () => [['client_id', client.clientId], ...target(client.clientId, client.redirectUri)],
  'two client_ids': () => [['client_id', other.clientId], ...target(client.clientId, client.redirectUri)],
  'a disabled client': () => target(disabled.clientId, disabled.redirectUri),
  'no redirect_uri': () => [['client_id', client.clientId]],
  'an empty redirect_uri': () => target(client.clientId, ''),
  'an unregistered redirect_uri': () => target(client.clientId, ATTACKER),
  "another client's redirect_uri": () => target(client.clientId, other.redirectUri),
  'the redirect_uri twice': () => [
    ['redirect_uri', client.redirectUri],
    ...target(client.clientId, client.redirectUri),
  ],
  'a bad redirect_uri before the good one': () => [
    ['redirect_uri', ATTACKER],
    ...target(client.clientId, client.redirectUri),
  ],
  'a bad redirect_uri after the good one': () => [
    ...target(client.clientId, client.redirectUri),
    ['redirect_uri', ATTACKER],
  ],
  'parameter names in another case': () => [
    ['Client_Id', client.clientId],
    ['REDIRECT_URI', client.redirectUri],
  ],
};

const target = (clientId: string, redirectUri: string): readonly Pair[] => [
  ['client_id', clientId],
  ['redirect_uri', redirectUri],
];

/** What else a request may have or lack. */
const rest: readonly (readonly Pair[])[] = [
  [['response_type', 'code']],
  [],
  [['response_type', 'token']],
  [
    ['response_type', 'code'],
    ['scope', 'bogus'],
  ],
  [
    ['response_type', 'code'],
    ['scope', 'openid'],
    ['prompt', 'none'],
  ],
  [
    ['response_type', 'code'],
    ['prompt', 'none login'],
  ],
  [
    ['response_type', 'code'],
    ['code_challenge', 'short'],
    ['code_challenge_method', 'plain'],
  ],
  [
    ['response_type', 'code'],
    ['request_uri', ATTACKER],
  ],
  [
    ['response_type', 'code'],
    ['state', 'a'],
    ['state', 'b'],
  ],
  [
    ['response_type', 'code'],
    ['response_mode', 'form_post'],
  ],
];

/** The one script of the page is ours, and nothing is written inside it: it can lead nowhere. */
function assertNoForeignScript(html: string): void {
  const scripts = html.match(/<script[^>]*>.*?<\/script>/gs) ?? [];
  for (const script of scripts) assert.match(script, /^<script src="\/assets\/[^"]+" type="module"><\/script>$/);
  assert.doesNotMatch(html, /\son\w+="|javascript:/i);
}

function assertRefusedPage(answer: Answer): void {
  assertStaysHere(answer, 400);
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  assertNoForeignScript(answer.text);
  for (const [, address] of answer.text.matchAll(/(?:href|src|action)="([^"]*)"/g)) {
    assert.doesNotMatch(address ?? '', /evil|example/, 'the page links to an address from the request');
  }
  assert.doesNotMatch(answer.headers.get('content-security-policy') ?? 'evil', /evil|example/);
}

function assertRefusedJson(answer: Answer): void {
  assertStaysHere(answer, 400);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json(; charset=utf-8)?$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const body = JSON.parse(answer.text) as Record<string, unknown>;
  assert.deepEqual(Object.keys(body).sort(), ['error', 'error_description']);
  assert.equal(body['error'], 'invalid_request');
}

for (const [name, pairs] of Object.entries(faults)) {
  test(`decisions §3, AZ-01: ${name} is never answered by a redirect`, async () => {
    for (const browser of Object.values(browsers)) {
      for (const more of rest) {
        const address = `/api/v2/oauth/authorize?${new URLSearchParams([...pairs(), ...more].map((pair) => [...pair]))}`;
        assertRefusedPage(await browser.get(address));
        assertRefusedJson(await browser.get(address, { accept: 'application/json' }));
        // OpenID Connect Core 1.0 §3.1.2.1: by POST the same holds.
        const form = {
          method: 'POST',
          redirect: 'manual',
          body: new URL(address, server.baseUrl).searchParams,
        } as const;
        const posted = await fetch(`${server.baseUrl}/api/v2/oauth/authorize`, form);
        assert.deepEqual([posted.status, posted.headers.get('location')], [400, null]);
      }
    }
  });
}

test('decisions §3: what a browser sends as Accept gets a page', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
  assertRefusedPage(await agent(server.baseUrl).get('/api/v2/oauth/authorize', { accept }));
});

test('decisions §3: a fault before client and address are certain is 500 here, one after it goes to the client', async () => {
  const browser = agent(server.baseUrl);
  const good = `/api/v2/oauth/authorize?${new URLSearchParams([...target(client.clientId, client.redirectUri), ['response_type', 'code'], ['state', 's']].map((pair) => [...pair]))}`;
  await query(server, 'ALTER TABLE client RENAME TO client_away');
  try {
    const page = await browser.get(good);
    assertStaysHere(page, 500);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    const json = await browser.get(good, { accept: 'application/json' });
    assertStaysHere(json, 500);
    assert.equal(JSON.parse(json.text).error, 'server_error');
    for (const answer of [page, json])
      assert.doesNotMatch(answer.text, /no such table|does not exist|sqlite|postgres|SELECT/i);
  } finally {
    await query(server, 'ALTER TABLE client_away RENAME TO client');
  }
  await query(server, 'ALTER TABLE interaction RENAME TO interaction_away');
  try {
    const answer = await browser.get(good);
    assert.equal(answer.status, 302);
    assert.equal(answer.location?.origin + (answer.location?.pathname ?? ''), client.redirectUri);
    const { error, state, iss } = Object.fromEntries(answer.location?.searchParams ?? []);
    assert.deepEqual({ error, state, iss }, { error: 'server_error', state: 's', iss: server.baseUrl });
    assert.doesNotMatch(answer.location?.href ?? '', /table|\brelation\b|sqlite|postgres/i);
  } finally {
    await query(server, 'ALTER TABLE interaction_away RENAME TO interaction');
  }
  assert.equal((await browser.get(good)).location?.pathname, '/login');
});
