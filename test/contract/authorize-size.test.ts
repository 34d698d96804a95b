// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, signedIn, walk } from '../support/flow.ts';
import { countRows, MINUTE, parametersOf, query } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// A pending request is kept for an hour without any authentication: at most 4 KiB each, and a bounded amount for an address.

const PATH = '/api/v2/oauth/authorize';
const LARGEST = 4096;
const MOST = 20_000;
const server = await startServer();
const limited = await startServer({ TESSERA_LIMIT_PENDING_BYTES_ADDRESS: `${MOST}/h`, TESSERA_TRUST_PROXY: '1' });
after(() => Promise.all([server.close(), limited.close()]));
const client = await newClient(server);
const browser = await signedIn(server, await newUser(server));
await walk(browser, authorizeUrl(client));

/** How many bytes the columns of each pending request hold, those of eight bytes by their number. */
async function storedSizes({ environment }: TestServer, now = 0): Promise<number[]> {
  const texts = ['hash', 'browser_hash', 'request', 'state', 'signed_in_session', 'chosen_session', 'outcome'];
  const octets = texts.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');
  const rows = await query({ environment }, `SELECT ${octets} + 24 AS size FROM interaction WHERE expires_at > ${now}`);
  return rows.map(({ size }) => Number(size));
}
const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

const form = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(new URL(authorizeUrl(client, parameters), server.baseUrl).searchParams);

/** Every way in which a request comes in: answered at once, kept for a page, and kept because it came by POST. */
const ways = {
  'GET, answered without a page': async (parameters) => browser.get(authorizeUrl(client, parameters)),
  'GET, prompt=none': async (parameters) => browser.get(authorizeUrl(client, { ...parameters, prompt: 'none' })),
  'GET, of a new browser': async (parameters) => agent(server.baseUrl).get(authorizeUrl(client, parameters)),
  POST: async (parameters) => agent(server.baseUrl).post(PATH, form(parameters)),
} satisfies Record<string, (parameters: Readonly<Record<string, string>>) => ReturnType<typeof browser.get>>;

const octets = 2048;
const states: Readonly<Record<string, string>> = {
  'control characters': '\0\x01\x1f'.repeat(682),
  'quotes and backslashes': '"\\'.repeat(octets / 2),
  ASCII: 'x'.repeat(octets),
  Chinese: '授'.repeat(Math.floor(octets / 3)),
  emoji: '😀'.repeat(octets / 4),
  'right-to-left marks': '\u202e'.repeat(Math.floor(octets / 3)),
};
for (const [name, state] of Object.entries(states)) {
  test(`AZ-07: a state of 2 KiB comes back to the letter, with a nonce and by way of the pages too: ${name}`, async () => {
    const parameters = { state, nonce: 'n'.repeat(512) };
    assert.equal(parametersOf((await browser.get(authorizeUrl(client, parameters))).location)['state'], state);
    const asked = { ...parameters, prompt: 'consent' };
    assert.equal(parametersOf(await walk(browser, authorizeUrl(client, asked)))['state'], state);
    const begun = await agent(server.baseUrl).post(PATH, form(parameters));
    assert.equal(begun.location?.pathname, '/continue');
    for (const size of await storedSizes(server)) assert.ok(size <= LARGEST, `${size} bytes are stored`);
  });
}

for (const [way, ask] of Object.entries(ways)) {
  test(`AZ-16: a request is 4 KiB at most, whether or not it must be kept: ${way}`, async () => {
    const before = await countRows(server, 'interaction');
    const refused = async (length: number) => {
      const state = 'x'.repeat(length);
      const { state: returned, ...error } = parametersOf((await ask({ state })).location);
      assert.equal(returned, state);
      assert.equal(error['error'], 'invalid_request');
      const size = Number(/^the request takes (\d+) bytes/.exec(error['error_description'] ?? '')?.[1]);
      assert.equal(
        error['error_description'],
        `the request takes ${size} bytes, ${length} of them for state, and at most ${LARGEST} are kept: shorten state, and keep data in the session of the app`,
      );
      return size;
    };
    const others = (await refused(4000)) - 4000;
    const longest = LARGEST - others;
    assert.ok(longest >= 2048, `${longest}`);
    assert.equal(await refused(longest + 1), LARGEST + 1);
    assert.equal(await countRows(server, 'interaction'), before, 'nothing was kept');
    const admitted = parametersOf((await ask({ state: 'x'.repeat(longest) })).location);
    assert.notEqual(admitted['error'], 'invalid_request');
    for (const size of await storedSizes(server)) assert.ok(size <= LARGEST, `${size} bytes are stored`);
  });
}

const people = JSON.stringify({
  userinfo: { sub: { values: Array.from({ length: 200 }, (_, n) => `${10n ** 18n + BigInt(n)}`) } },
});
const large: readonly (readonly [name: string, parameters: Readonly<Record<string, string>>])[] = [
  ['nonce', { nonce: '\x01'.repeat(1024) }],
  ['claims', { claims: people }],
  ['state', { state: '\0'.repeat(3900), nonce: 'n'.repeat(1024) }],
];
for (const [name, parameters] of large) {
  test(`AZ-16: what is too large to keep is named: ${name}`, async () => {
    for (const ask of Object.values(ways)) {
      const { error, error_description } = parametersOf((await ask(parameters)).location);
      assert.equal(error, 'invalid_request');
      assert.match(
        error_description ?? '',
        new RegExp(`bytes, \\d+ of them for ${name}, .*: shorten ${name}, and keep data`),
      );
    }
  });
}

test('AV-03: an address holds so many bytes of waiting requests at a time, whenever it begins them', async () => {
  const app = await newClient(limited);
  const begin = async (address: string, state = 's'.repeat(1000)): Promise<string | undefined> => {
    const url = authorizeUrl(app, { state });
    const { location } = await agent(limited.baseUrl).get(url, { 'x-forwarded-for': address });
    if (location?.pathname === '/login') return undefined;
    assert.equal(parametersOf(location)['state'], state);
    return `${parametersOf(location)['error']}: ${parametersOf(location)['error_description']}`;
  };
  const began = limited.now();
  let admitted = 0;
  let refusals = 0;
  while (limited.now() < began + 4 * 60 * MINUTE) {
    for (let refused: string | undefined; refused === undefined; ) {
      refused = await begin('203.0.113.7');
      if (refused === undefined) admitted++;
      else assert.match(refused, /^temporarily_unavailable: the sign-ins that wait for an answer at this address/);
    }
    refusals++;
    const held = total(await storedSizes(limited, limited.now()));
    assert.ok(held <= MOST, `${held} bytes are held`);
    limited.advance(7 * MINUTE);
  }
  assert.ok(admitted >= 3 * 10, `${admitted}: what has ended makes room`);
  // What is refused for its size leaves room for what is smaller; other addresses are not concerned.
  assert.equal(await begin('203.0.113.8'), undefined);
  const recorded = await query(limited, "SELECT details, address FROM audit_event WHERE type = 'limit.exceeded'");
  assert.ok(recorded.length >= 4 && recorded.length <= 5, `${recorded.length} of ${refusals} refusals`);
  for (const { details, address } of recorded) {
    assert.deepEqual([details, address], ['{"limit":"pendingBytesAddress"}', '203.0.113.7']);
  }
});
