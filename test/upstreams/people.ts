import assert from 'node:assert/strict';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { newestMail } from '../support/recovery.ts';
import type { TestServer } from '../support/server.ts';
import { type Members, UpstreamProvider } from '../support/upstream-provider.ts';

/** For how long a process shows the same buttons. */
const SHOWN = 11_000;

/** A registered upstream, with its provider. */
export interface TestUpstream {
  readonly provider: UpstreamProvider;
  readonly id: string;
  readonly name: string;
}

let count = 0;

/** Registers a provider, with the key of the configuration unless another is named. */
export async function newUpstream(server: TestServer, fields: Members = {}, key?: string): Promise<TestUpstream> {
  const provider = await UpstreamProvider.start();
  provider.now = server.now;
  count++;
  const name = `provider-${count}`;
  const asked = {
    ...{ name, displayName: `Provider ${count}`, issuer: provider.issuer },
    ...{ clientId: provider.clientId, clientSecret: provider.clientSecret, ...fields },
  };
  const { status, body } = await admin(server, 'POST', '/upstreams', asked, key);
  assert.equal(status, 201, JSON.stringify(body));
  server.advance(SHOWN);
  return { provider, id: body.id, name: body.name };
}

/** Goes to an upstream and comes back. */
export async function throughUpstream(browser: Agent, { provider, name }: TestUpstream, query = ''): Promise<Answer> {
  const left = await browser.get(`/login/with/${name}${query}`);
  assert.equal(left.status, 302, left.text.slice(0, 2000));
  return browser.get(provider.authorize(left.location?.href ?? '').href);
}

/** Creates an account with an upstream, and proves its address. */
export async function joinedThrough(
  server: TestServer,
  upstream: TestUpstream,
  { person, username, email }: { readonly person: Members; readonly username: string; readonly email: string },
): Promise<Agent> {
  const browser = agent(server.baseUrl);
  upstream.provider.person = person;
  const back = await throughUpstream(browser, upstream);
  assert.equal(back.location?.pathname, `/login/with/${upstream.name}/new`, back.text.slice(0, 2000));
  const page = await browser.get(back.location.href);
  const sent = await browser.submit(page, { displayName: 'Alice', username, email }, back.location.pathname);
  assert.equal(sent.location?.pathname, '/signup/verify', sent.text.slice(0, 2000));
  const { code = '' } = await newestMail(server, email, 'verify address');
  const done = await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
  assert.equal(done.location?.pathname, '/account', done.text.slice(0, 2000));
  return browser;
}
