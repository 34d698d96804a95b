// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { STANDARD } from '../support/api-call.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  signedIn,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const SCOPES = ['email', 'details', 'phone', 'social', 'organization.read'] as const;
type Scope = (typeof SCOPES)[number];
/** All 32 of them, the empty one included. */
const SUBSETS: readonly (readonly Scope[])[] = Array.from({ length: 32 }, (_, bits) =>
  SCOPES.filter((_scope, i) => (bits >> i) & 1),
);

const LINKS = [
  { platform: 'github', url: 'https://github.com/ada', label: 'GitHub' },
  { platform: 'x', url: 'https://x.com/ada?lang=en', label: 'X' },
];

interface Case {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Base fields beyond name and address. */
  readonly base: { readonly about: string; readonly language: string; readonly theme: string | null };
  /** What each scope adds to `user`. */
  readonly scoped: (username: string, organization: unknown) => Readonly<Record<Scope, object>>;
  /** What each scope adds to the standard claims. */
  readonly standard: (username: string) => Readonly<Record<Scope, object>>;
}

const CASES: readonly Case[] = [
  {
    name: 'a person with everything set',
    fields: {
      displayName: 'Ada “Countess” Lovelace 👩‍💻',
      email: 'Ada+x@Mail.example.com',
      emailVerified: true,
      about: 'First\nprogrammer <b>& "more"</b>',
      language: 'pt-BR',
      theme: 'dark',
      website: 'https://ada.example.com/?a=1&b=2',
      location: 'London',
      birthDate: '1985-12-10',
      phone: '+905551234567',
      socialLinks: LINKS,
      avatarColor: '#1f4e8c',
    },
    base: { about: 'First\nprogrammer <b>& "more"</b>', language: 'pt-BR', theme: 'dark' },
    scoped: (_username, organization) => ({
      email: { email: { username: 'Ada+x', domain: 'Mail.example.com', isVerified: true } },
      details: { website: 'https://ada.example.com/?a=1&b=2', location: 'London', birthDate: '1985-12-10' },
      phone: { phone: '+905551234567' },
      social: { socialLinks: LINKS },
      'organization.read': { organization },
    }),
    standard: () => ({
      email: { email: 'Ada+x@Mail.example.com', email_verified: true },
      details: { website: 'https://ada.example.com/?a=1&b=2', birthdate: '1985-12-10' },
      phone: { phone_number: '+905551234567', phone_number_verified: false },
      social: {},
      'organization.read': {},
    }),
  },
  {
    name: 'a person with nothing set',
    fields: {},
    base: { about: '', language: 'en', theme: null },
    scoped: (username) => ({
      email: { email: { username, domain: 'example.com', isVerified: false } },
      details: { website: null, location: null, birthDate: null },
      phone: { phone: null },
      social: { socialLinks: [] },
      'organization.read': { organization: null },
    }),
    standard: (username) => ({
      email: { email: `${username}@example.com`, email_verified: false },
      details: {},
      phone: {},
      social: {},
      'organization.read': {},
    }),
  },
];

const people: {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly createdAt: string;
  readonly name: string;
}[] = [];

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const organizationId = (await admin(server, 'POST', '/organizations', { name: 'analytical', domain: 'engine.example' }))
  .body.id;
for (const { fields } of CASES) {
  const user = await newUser(server, fields);
  const view = (await admin(server, 'GET', `/users/${user.id}`)).body;
  const browser = await signedIn(server, user);
  people.push({ user, browser, createdAt: view.createdAt, name: view.displayName });
}
await admin(server, 'PUT', `/organizations/${organizationId}/members/${people[0]?.user.id}`, { role: 'OWNER' });
// Consent to everything once; each later request asks for a part of it.
for (const { user, browser } of people) {
  await codeFor(server, client, user, { scope: ['openid', ...SCOPES].join(' ') }, { browser });
}

const organization = () => ({ id: organizationId, name: 'analytical', role: 'OWNER', domain: 'engine.example' });

for (const [index, each] of CASES.entries()) {
  describe(`contract §2.1: ${each.name}`, () => {
    for (const subset of SUBSETS) {
      test(`scopes: ${subset.join(' ') || '(none)'}`, async () => {
        const person = people[index];
        assert.ok(person);
        const { user, browser, createdAt, name } = person;
        const tokens: Tokens = await tokensFor(server, client, user, { scope: subset.join(' ') }, { browser });
        assert.equal(claimsOf(tokens.access_token).scope, ['openid', ...subset].join(' '));

        const scoped = each.scoped(user.username, organization());
        const me = await userinfo(server, tokens.access_token);
        assert.equal(me.status, 200);
        const { avatar } = me.body.user;
        assert.deepEqual(me.body, {
          sub: user.id,
          id: user.id,
          user: {
            displayName: name,
            username: user.username,
            avatar: { baseUrl: avatar.baseUrl, path: avatar.path, color: avatar.color },
            about: each.base.about,
            ...Object.assign({}, ...subset.map((scope) => scoped[scope])),
          },
          language: each.base.language.slice(0, 2),
          theme: each.base.theme,
          createdAt,
        });
        assert.ok(URL.canParse(avatar.baseUrl + avatar.path));
        assert.match(avatar.color, /^#[0-9a-f]{6}$/);
        assert.equal(new Date(me.body.createdAt).toISOString(), me.body.createdAt);

        // OIDC Core §5.3.2: the sub of UserInfo is that of the ID token.
        assert.deepEqual([claimsOf(tokens.id_token).sub, me.body.sub], [user.id, user.id]);

        const standard = await userinfo(server, tokens.access_token, STANDARD);
        assert.equal(standard.status, 200);
        const { updated_at, ...claims } = standard.body;
        assert.ok(Number.isSafeInteger(updated_at));
        assert.deepEqual(claims, {
          sub: user.id,
          name,
          preferred_username: user.username,
          picture: avatar.baseUrl + avatar.path,
          locale: each.base.language,
          ...Object.assign({}, ...subset.map((scope) => each.standard(user.username)[scope])),
        });
      });
    }
  });
}

describe('contract §2.1: nullable and changing fields', () => {
  const all = async (index: number): Promise<string> => {
    const person = people[index];
    assert.ok(person);
    const scope = SCOPES.join(' ');
    return (await tokensFor(server, client, person.user, { scope }, { browser: person.browser })).access_token;
  };

  test('an organization whose role is null, each role, and none again', async () => {
    const token = await all(1);
    const path = `/organizations/${organizationId}/members/${people[1]?.user.id}`;
    for (const role of [null, 'OWNER', 'ADMIN', 'MEMBER'] as const) {
      assert.equal((await admin(server, 'PUT', path, { role })).status, 200);
      assert.deepEqual((await userinfo(server, token)).body.user.organization, { ...organization(), role });
    }
    await admin(server, 'DELETE', path);
    assert.equal((await userinfo(server, token)).body.user.organization, null);
  });

  test('each field shows what it is now, not what it was at sign-in', async () => {
    const token = await all(1);
    const path = `/users/${people[1]?.user.id}`;
    for (const theme of ['light', 'dark', 'system', null]) {
      assert.equal((await admin(server, 'PATCH', path, { theme })).status, 200);
      assert.equal((await userinfo(server, token)).body.theme, theme);
    }
    const change = { phone: '+14155552671', location: 'Paris', about: '', socialLinks: LINKS, displayName: 'New Name' };
    await admin(server, 'PATCH', path, change);
    const { user } = (await userinfo(server, token)).body;
    assert.equal(user.phone, '+14155552671');
    assert.equal(user.location, 'Paris');
    assert.equal(user.website, null);
    assert.deepEqual(user.socialLinks, LINKS);
    assert.equal(user.displayName, 'New Name');
    await admin(server, 'PATCH', path, { phone: null, location: null, socialLinks: [] });
    const again = (await userinfo(server, token)).body.user;
    assert.deepEqual([again.phone, again.location, again.socialLinks], [null, null, []]);
  });

  test('US-06: a changed email address is unverified until an operator confirms it', async () => {
    // It ends what was issued before.
    await admin(server, 'PATCH', `/users/${people[0]?.user.id}`, { email: 'ada@new.example' });
    const token = await all(0);
    const expected = { username: 'ada', domain: 'new.example', isVerified: false };
    assert.deepEqual((await userinfo(server, token)).body.user.email, expected);
    assert.equal((await userinfo(server, token, STANDARD)).body.email_verified, false);
  });

  test('decisions §2: a scope that was switched off on the page is omitted', async () => {
    const app = await newClient(server);
    const person = people[0];
    assert.ok(person);
    const choice = { browser: person.browser, allow: ['phone'] };
    const answer = await redeem(
      server,
      app,
      await codeFor(server, app, person.user, { scope: SCOPES.join(' ') }, choice),
    );
    const { user } = (await userinfo(server, answer.body.access_token)).body;
    assert.deepEqual(Object.keys(user), ['displayName', 'username', 'avatar', 'about', 'phone']);
  });
});
