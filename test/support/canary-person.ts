import assert from 'node:assert/strict';
import type { Agent } from './agent.ts';
import { admin, authorizeUrl, newClient, newUser, refresh, revokeOnPage, signedIn, tokensFor } from './flow.ts';
import { drawing } from './images.ts';
import { query } from './outcome.ts';
import { ADMIN_KEY, type TestServer } from './server.ts';

/** A user whose every field holds a text that occurs nowhere else. */
export interface CanaryPerson {
  readonly id: string;
  /** What must be gone with the account, by the name of the field. */
  readonly canaries: Readonly<Record<string, Buffer>>;
}

const PHONES = { first: '+905551234567', second: '+905557654321' };

const profile = (mark: string, phone: string) => ({
  displayName: `Display ${mark}`,
  about: `About ${mark} ${'x'.repeat(400)}`,
  website: `https://website-${mark}.example/`,
  location: `Location ${mark}`,
  phone,
  birthDate: mark === 'canaryone' ? '1907-12-09' : '1906-11-08',
  socialLinks: [{ platform: `platform-${mark}`, url: `https://link-${mark}.example/`, label: `Label ${mark}` }],
});

/** A picture that does not shrink, so that its bytes fill several pages. */
async function upload(server: TestServer, id: string): Promise<void> {
  let seed = 7;
  const noise = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % 256;
  };
  const body = await drawing(200, 200, () => [noise(), noise(), noise()]).png();
  const path = `${server.baseUrl}/api/v2/admin/users/${id}/picture`;
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'image/png' };
  assert.equal((await fetch(path, { method: 'PUT', headers, body })).status, 200);
}

async function bytesOfPicture(server: TestServer, id: string): Promise<Buffer> {
  const [row] = await query(server, 'SELECT bytes FROM picture WHERE account_id = ?', id);
  const bytes = row?.['bytes'];
  assert.ok(bytes instanceof Uint8Array && bytes.length > 16_384, 'a picture of several pages');
  return Buffer.from(bytes);
}

/**
 * Makes a person with a canary in every field, changes each of them once, lets the person sign in, allow an app, use tokens and
 * take the access away, and has an operator ban and suspend them with a reason.
 */
export async function canaryPerson(server: TestServer): Promise<CanaryPerson> {
  const [first, second] = ['canaryone', 'canarytwo'];
  const username = 'name.canaryone';
  const email = 'mail.canaryone@address-canaryone.example';
  const client = await newClient(server);
  const user = await newUser(server, { username, email, ...profile(first, PHONES.first) });
  await upload(server, user.id);
  const browser: Agent = await signedIn(server, { ...user, username });
  const tokens = await tokensFor(server, client, user, { scope: 'openid email details' }, { browser });
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
  // Waits for an hour, with the name that the app gave.
  await browser.get(authorizeUrl(client, { prompt: 'login', login_hint: email }));
  await revokeOnPage(browser, client);
  const { status } = await admin(server, 'PATCH', `/users/${user.id}`, {
    username: 'name.canarytwo',
    email: 'mail.canarytwo@address-canarytwo.example',
    ...profile(second, PHONES.second),
  });
  assert.equal(status, 200);
  for (const mark of [first, second]) {
    await admin(server, 'PUT', `/users/${user.id}/ban`, { reason: `Banned for ${mark}` });
    await admin(server, 'PUT', `/users/${user.id}/suspension`, { reason: `Suspended for ${mark}` });
  }
  const picture = await bytesOfPicture(server, user.id);
  const texts = {
    'every text before its change': first,
    'every text': second,
    'phone before its change': PHONES.first,
    phone: PHONES.second,
    'birth date before its change': '1907-12-09',
    'birth date': '1906-11-08',
  };
  const parts = [0.2, 0.5, 0.8].map((place) => Math.floor(picture.length * place));
  return {
    id: user.id,
    canaries: {
      ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)])),
      ...Object.fromEntries(parts.map((start) => [`picture at ${start}`, picture.subarray(start, start + 24)])),
    },
  };
}
