// store: SQLite, PostgreSQL with --all
/** AV-01, SE-08: whose address a limit counts, on every route that counts one. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, agent, formOf } from '../support/agent.ts';
import { authorizeUrl, newClient } from '../support/flow.ts';
import { HOUR } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LIMIT = 3;
const limits = {
  TESSERA_LIMIT_SIGN_IN_ADDRESS: `${LIMIT}/h`,
  TESSERA_LIMIT_SIGN_UP_ADDRESS: `${LIMIT}/h`,
  TESSERA_LIMIT_PENDING_ADDRESS: `${LIMIT}/h`,
  TESSERA_LIMIT_CLIENT_AUTH: `${LIMIT}/h`,
  TESSERA_LIMIT_PLAYGROUND_ADDRESS: `${LIMIT}/h`,
  TESSERA_HASHING_CONCURRENCY: '8',
};
const direct = await startServer(limits);
const proxied = await startServer({ ...limits, TESSERA_TRUST_PROXY: '1' });
after(() => Promise.all([direct.close(), proxied.close()]));
const clients = { direct: await newClient(direct), proxied: await newClient(proxied) };
const clientOf = (server: TestServer) => (server === direct ? clients.direct : clients.proxied);

type Headers = Readonly<Record<string, string>>;
interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}
interface Route {
  /** One attempt by a new browser or app; answers whether it was within the limit. */
  attempt(server: TestServer, headers: Headers): Promise<boolean>;
}

let names = 0;
const browserAt = ({ baseUrl }: TestServer, headers: Headers): Agent => agent(baseUrl, undefined, headers);

/** RFC 6585 §4. */
function within({ status, headers }: Answer, expected: number): boolean {
  if (status === 429) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d{0,3}$/);
  else assert.equal(status, expected);
  return status !== 429;
}

const routes: Readonly<Record<string, Route>> = {
  'POST /login': {
    async attempt(server, headers) {
      const browser = browserAt(server, headers);
      const page = await browser.get('/login');
      return within(await browser.submit(page, { identifier: `unknown${++names}`, password: 'a guess' }), 401);
    },
  },
  'POST /signup': {
    async attempt(server, headers) {
      const browser = browserAt(server, headers);
      const username = `person${++names}`;
      const fields = { displayName: 'P', username, email: `${username}@example.com`, password: 'some passphrase' };
      return within(await browser.submit(await browser.get('/signup'), fields), 303);
    },
  },
  'POST /api/v2/oauth/token': {
    async attempt(server, headers) {
      const body = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
      const answer = await fetch(`${server.baseUrl}/api/v2/oauth/token`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, client_id: clientOf(server).clientId }),
      });
      await answer.text();
      return within(answer, 401);
    },
  },
  'POST /playground': {
    async attempt(server, headers) {
      const browser = browserAt(server, headers);
      const { hidden } = formOf((await browser.get('/playground')).text, '/playground');
      return within(await browser.post('/playground', { ...hidden, action: 'start' }), 303);
    },
  },
  // RFC 6749 §4.1.2.1: told to the app, and so without a status of its own.
  'GET /api/v2/oauth/authorize': {
    async attempt(server, headers) {
      const { status, location } = await browserAt(server, headers).get(authorizeUrl(clientOf(server)));
      assert.equal(status, 302);
      if (location?.pathname === '/login') return true;
      assert.equal(location?.searchParams.get('error'), 'temporarily_unavailable');
      return false;
    },
  },
};

const counted = (answers: readonly boolean[]): number => answers.filter((answer) => answer).length;

/** What a caller may say of its own address; not all of it is one. */
const lies: readonly ((n: number) => Headers)[] = [
  (n) => ({ 'x-forwarded-for': `198.51.100.${n}` }),
  (n) => ({ 'x-forwarded-for': `198.51.100.${n}, not an address`, 'x-real-ip': `198.51.100.${n}` }),
  (n) => ({ forwarded: `for="[2001:db8::${n}]:4711";proto=https;host=evil.example` }),
  (n) => ({ 'x-forwarded-for': '\u00ff'.repeat(n + 1), 'true-client-ip': `198.51.100.${n}`, 'x-client-ip': '::' }),
  (n) => ({ 'cf-connecting-ip': `198.51.100.${n}`, 'x-forwarded-host': `evil${n}.example`, 'x-forwarded-proto': 'x' }),
];

for (const [name, { attempt }] of Object.entries(routes)) {
  describe(name, () => {
    test('SE-08: what a caller says of its address gives it no count of its own; side by side no more get through', async () => {
      direct.advance(HOUR);
      const headers = lies.flatMap((lie) => [lie(1), lie(2), lie(3)]);
      const answers = await Promise.all(headers.map((each) => attempt(direct, each)));
      assert.equal(counted(answers), LIMIT);
      assert.equal(await attempt(direct, {}), false);
    });

    test('AV-01: behind a proxy the address that the proxy wrote counts, IPv6 by its /64, in any spelling, with a port or without', async () => {
      proxied.advance(HOUR);
      const from = (address: string, n: number) =>
        attempt(proxied, { 'x-forwarded-for': `203.0.113.${n}, ${address}`, forwarded: `for=203.0.113.${n}` });
      const spellings = [
        '2001:db8:1:2::1',
        '2001:DB8:1:2:0:0:0:2',
        '2001:0db8:0001:0002::ffff',
        '[2001:db8:1:2:a:b:c:d]:4711',
      ];
      const answers = await Promise.all([...spellings, ...spellings].map(from));
      assert.equal(counted(answers), LIMIT);
      assert.equal(await from('2001:db8:1:3::1', 9), true, 'another network');
      for (let n = 0; n <= LIMIT; n++) {
        const spelling = ['192.0.2.7', '::ffff:192.0.2.7', `192.0.2.7:${4711 + n}`][n % 3] ?? '';
        assert.equal(await from(spelling, n), n < LIMIT, `IPv4, ${n}`);
      }
      // IF-06: everything that is not an address counts as one.
      for (let n = 0; n <= LIMIT; n++) assert.equal(await from(`unknown-${n}`, n), n < LIMIT, `none, ${n}`);
    });
  });
}
