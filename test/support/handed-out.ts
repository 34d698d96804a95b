// What admin keys hand out that can be used later: recovery links, invitations and initial access tokens.
import assert from 'node:assert/strict';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type Agent, type Answer, agent, formOf } from './agent.ts';
import { call, JSON_TYPE } from './api-call.ts';
import { admin, newSignedInUser, newUser, type TestUser } from './flow.ts';
import { METADATA, newInitialToken } from './registration.ts';
import type { TestServer } from './server.ts';

/** The password that a recovery sets. */
export const RECOVERED_PASSWORD = 'twelve green bicycles';

/** Opens what was handed out, and leaves it to the caller when its form is sent. */
type Open = (key: string) => Promise<Send>;
type Send = (headers?: Readonly<Record<string, string>>) => Promise<number>;

type HandedOutKind = 'invitations' | 'recoveryLinks' | 'initialAccessTokens';

/** The tables of what is handed out. */
export const TABLE_OF = {
  invitations: 'invitation',
  recoveryLinks: 'challenge',
  initialAccessTokens: 'initial_access_token',
} as const satisfies Record<HandedOutKind, string>;

/** Hands things out with the keys of a server. */
export function handingOut(server: TestServer) {
  const pathOf = (link: string): string => link.slice(server.baseUrl.length);

  async function linkBy(secret: string, { id }: Pick<TestUser, 'id'>): Promise<string> {
    const { status, body } = await admin(server, 'POST', `/users/${id}/recovery-link`, {}, secret);
    assert.equal(status, 201, JSON.stringify(body));
    return pathOf(body.url);
  }

  async function inviteBy(secret: string, fields: object = {}): Promise<string> {
    const { status, body } = await admin(server, 'POST', '/invitations', fields, secret);
    assert.equal(status, 201, JSON.stringify(body));
    return pathOf(body.link);
  }

  function form(browser: Agent, page: Answer, action: string, fields: Readonly<Record<string, string>>): Send {
    const { hidden } = formOf(page.text, action);
    return async (headers = {}) => (await browser.post(action, { ...hidden, ...fields }, headers)).status;
  }

  const kinds: Readonly<Record<HandedOutKind, Open>> = {
    async recoveryLinks(key) {
      const link = await linkBy(key, await newUser(server));
      const browser = agent(server.baseUrl);
      const page = await browser.get(link);
      assert.equal(page.status, 200);
      return form(browser, page, '/recover/link', { password: RECOVERED_PASSWORD });
    },
    async invitations(key) {
      const name = `org${randomSecret().slice(0, 6).toLowerCase().replaceAll(/[-_]/g, '0')}`;
      const { body } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
      const link = await inviteBy(key, { organizationId: body.id });
      const { browser } = await newSignedInUser(server);
      const page = await browser.get(link);
      assert.equal(page.status, 200);
      return form(browser, page, '/invitation', {});
    },
    async initialAccessTokens(key) {
      const { initialAccessToken } = await newInitialToken(server, {}, key);
      return async (headers = {}) => {
        const sent = { ...headers, 'content-type': JSON_TYPE, authorization: `Bearer ${initialAccessToken}` };
        return (await call(server, 'POST', '/oidc/register', sent, JSON.stringify(METADATA))).status;
      };
    },
  };
  return { linkBy, inviteBy, kinds };
}
