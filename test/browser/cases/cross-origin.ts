import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { authorizeUrl, newUser, signedIn, standard, walk } from '../../support/flow.ts';
import { startClientApp } from '../client-app.ts';
import { appClient, type Stage } from '../stage.ts';

interface Read {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly challenge: string | null;
}

type Init = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  credentials?: 'include';
};

/** What a page's own script gets for a request, or the error that it gets instead. */
const fetchIn = (page: Page, url: string, init: Init = {}): Promise<Read | string> =>
  page.evaluate(
    async ([address, options]) => {
      try {
        const answer = await fetch(address, options);
        const body = (await answer.json()) as Record<string, unknown>;
        return { status: answer.status, body, challenge: answer.headers.get('www-authenticate') };
      } catch (error) {
        return String(error);
      }
    },
    [url, init] as const,
  );

function read(answer: Read | string): Read {
  if (typeof answer === 'string') assert.fail(answer);
  return answer;
}

async function onPageOf(stage: Stage, origin: string, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await stage.browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${origin}/callback`);
    await work(page);
  } finally {
    await context.close();
  }
}

export function crossOriginCases(theStage: () => Stage): void {
  test('HB-04: an app in a browser discovers, exchanges a code as JSON, reads UserInfo, and reads why it is refused', async () => {
    const stage = theStage();
    const { server, app } = stage;
    const user = await newUser(server);
    const client = await appClient(stage, { type: 'public' });
    const verifier = randomBytes(32).toString('base64url');
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    const request = authorizeUrl(standard(client), { code_challenge, code_challenge_method: 'S256' });
    const code = (await walk(await signedIn(server, user), request)).searchParams.get('code');

    await onPageOf(stage, app.origin, async (page) => {
      const document = read(await fetchIn(page, `${server.baseUrl}/.well-known/openid-configuration`)).body;
      const headers = { 'content-type': 'application/json' };
      const grant = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: client.redirectUri,
        code_verifier: verifier,
      };
      const body = JSON.stringify({ ...grant, client_id: client.clientId });
      const tokenEndpoint = String(document['token_endpoint']);
      const exchanged = read(await fetchIn(page, tokenEndpoint, { method: 'POST', headers, body }));
      assert.equal(exchanged.status, 200);
      const bearer = { authorization: `Bearer ${exchanged.body['access_token']}` };
      const userinfo = String(document['userinfo_endpoint']);
      assert.equal(read(await fetchIn(page, userinfo, { headers: bearer })).body['sub'], user.id);
      for (const url of [userinfo, `${server.baseUrl}/api/v2/oauth/userinfo`]) {
        const refused = read(await fetchIn(page, url, { headers: { authorization: 'Bearer x' } }));
        assert.deepEqual([refused.status, refused.body['error']], [401, 'invalid_token']);
        assert.match(refused.challenge ?? '', /^Bearer /);
      }
      const again = read(await fetchIn(page, tokenEndpoint, { method: 'POST', headers, body }));
      assert.deepEqual([again.status, again.body['error']], [400, 'invalid_grant']);
      const withCookies = await fetchIn(page, tokenEndpoint, { method: 'POST', headers, body, credentials: 'include' });
      assert.match(String(withCookies), /Failed to fetch/);
    });
  });

  test('HB-04: a foreign page reads nothing, with or without a preflight', async () => {
    const stage = theStage();
    const client = await appClient(stage, { type: 'public' });
    const stranger = await startClientApp();
    try {
      await onPageOf(stage, stranger.origin, async (page) => {
        const { baseUrl } = stage.server;
        const body = `grant_type=refresh_token&refresh_token=x&client_id=${client.clientId}`;
        const form = { 'content-type': 'application/x-www-form-urlencoded' };
        const json = { 'content-type': 'application/json' };
        const tries: [string, Init][] = [
          ['/api/v2/oauth/token', { method: 'POST', headers: form, body }],
          ['/api/v2/oauth/token', { method: 'POST', headers: json, body: '{}' }],
          ['/oidc/userinfo', { headers: { authorization: 'Bearer x' } }],
          ['/api/v2/oauth/userinfo', { headers: { authorization: 'Bearer x' } }],
          ['/api/v2/admin/users', { headers: { authorization: 'Bearer x' } }],
        ];
        for (const [path, init] of tries) {
          assert.match(String(await fetchIn(page, baseUrl + path, init)), /Failed to fetch/, path);
        }
        assert.equal(read(await fetchIn(page, `${baseUrl}/.well-known/jwks.json`)).status, 200);
      });
    } finally {
      await stranger.close();
    }
  });
}
