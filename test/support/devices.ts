import assert from 'node:assert/strict';
import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import type { Agent, Answer } from './agent.ts';
import { newClient, standard, type TestClient, tokenCall } from './flow.ts';
import { settle } from './outcome.ts';
import type { TestServer } from './server.ts';
import { asClient } from './token-services.ts';

export const DEVICE_AUTHORIZATION = '/oidc/device_authorization';

/** A public client for devices. It has no redirect URI. */
export const newDeviceClient = async (server: TestServer, more: Readonly<Record<string, unknown>> = {}) =>
  standard(await newClient(server, { type: 'public', grantTypes: [DEVICE_GRANT, 'refresh_token'], ...more }));

/** What a device gets when it begins. */
export interface StartedDevice {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly expires_in: number;
  readonly interval: number;
}

export const askAsDevice = (server: TestServer, client: TestClient, fields: Readonly<Record<string, string>> = {}) =>
  asClient(server, DEVICE_AUTHORIZATION, client, fields);

export async function startDevice(
  server: TestServer,
  client: TestClient,
  fields: Readonly<Record<string, string>> = { scope: 'openid email' },
): Promise<StartedDevice> {
  const { status, body } = await askAsDevice(server, client, fields);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** A token request of a device. */
export const poll = (
  server: TestServer,
  client: TestClient,
  { device_code }: Pick<StartedDevice, 'device_code'>,
  more: Readonly<Record<string, unknown>> = {},
) =>
  tokenCall(
    server,
    {
      grant_type: DEVICE_GRANT,
      device_code,
      client_id: client.clientId,
      ...(client.clientSecret !== undefined && { client_secret: client.clientSecret }),
      ...more,
    },
    client,
  );

/** Types a code, and gives the page that it leads to. */
export async function typeUserCode(server: TestServer, browser: Agent, code: string): Promise<Answer> {
  const answer = await browser.submit(await browser.get('/device'), { user_code: code });
  return settle(browser, server, answer);
}

/** Answers the consent page that a code leads to. */
export async function answerDevice(
  server: TestServer,
  browser: Agent,
  { user_code }: Pick<StartedDevice, 'user_code'>,
  decision: 'allow' | 'deny' = 'allow',
): Promise<Answer> {
  const page = await typeUserCode(server, browser, user_code);
  const on = [...page.text.matchAll(/name="(allow [a-z0-9.]+)"/g)].map(([, name = '']) => [name, 'on']);
  return browser.submit(page, { decision, ...Object.fromEntries(on) }, '/consent');
}
