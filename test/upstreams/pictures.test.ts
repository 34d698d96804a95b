// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fetchPicture } from '../../src/account-actions/upstreams/fetch-picture.ts';
import { takePicture } from '../../src/account-actions/upstreams/take-picture.ts';
import { type Pictures, pictures } from '../../src/pictures/pictures.ts';
import { DAY } from '../../src/platform/clock.ts';
import { Failure } from '../../src/platform/failure.ts';
import { type OutgoingRules, outgoing } from '../../src/platform/http/outgoing.ts';
import { addressFlows } from '../../src/platform/validation/origin.ts';
import { type Agent, agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { BLUE, colorIn, drawing, png, RED } from '../support/images.ts';
import { query } from '../support/outcome.ts';
import { enroll, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
/** What the server of the pictures answers, by path. */
interface Served {
  readonly status?: number;
  readonly body: Uint8Array | string | 'never';
  /** What happens while it is asked for. */
  readonly meanwhile?: () => Promise<unknown>;
}
const served = new Map<string, Served>();
let staff: TestUpstream;
let browser: Agent;
let username: string;
let accountId: string;
let people = 0;

const square = (color: typeof RED): Promise<Buffer> => drawing(20, 20, () => color).png();
let red: Buffer;
let blue: Buffer;

before(async () => {
  [red, blue] = [await square(RED), await square(BLUE)];
  staff = await newUpstream(server, { signUp: 'anyone', claimsMap: { name: '/name', picture: '/picture' } });
  staff.provider.tricks = {
    answer(path, _request, response) {
      const found = served.get(path);
      if (found === undefined) return false;
      if (found.body === 'never') return true;
      const { status = 200, body, meanwhile = async () => {} } = found;
      void meanwhile().then(() =>
        response.writeHead(status, { location: '/red', 'content-type': 'image/png' }).end(body),
      );
      return true;
    },
  };
});
beforeEach(async () => {
  served.clear();
  served.set('/red', { body: red });
  served.set('/blue', { body: blue });
  username = `person-${++people}`;
  browser = await joinedThrough(server, staff, {
    person: { sub: username },
    username,
    email: `${username}@example.com`,
  });
  const [row] = await query(server, `SELECT id FROM account WHERE username = '${username}'`);
  accountId = String(row?.['id']);
});
after(async () => {
  await staff.provider[Symbol.asyncDispose]();
  await server.close();
});

const at = (path: string): string => `${staff.provider.issuer}${path}`;

async function signIn(picture: unknown) {
  staff.provider.person = { sub: username, ...(picture !== undefined && { picture }) };
  const back = await throughUpstream(agent(server.baseUrl), staff);
  assert.equal(back.location?.pathname, '/account', 'the sign-in is whole');
  return back;
}

/** The picture of the account: its colour, or none. */
async function color(): Promise<string> {
  const [row] = await query(server, `SELECT bytes FROM picture WHERE account_id = ${accountId}`);
  const { body } = await admin(server, 'GET', `/users/${accountId}`);
  assert.equal(body.hasPicture, row !== undefined);
  return row === undefined ? 'none' : colorIn(new Uint8Array(row['bytes'] as Uint8Array), 50, 50);
}

/** What the trace of a sign-in says of the picture. */
async function traceOf(back: Awaited<ReturnType<typeof signIn>>): Promise<string> {
  const { body } = await admin(server, 'GET', `/traces/${back.headers.get('x-request-id')}`);
  return JSON.stringify(body);
}

const FORM = '/account/picture';
const upload = async (file: Uint8Array): Promise<void> => {
  const picture = new File([new Uint8Array(file)], 'me.png', { type: 'image/png' });
  assert.equal((await browser.upload(await browser.get('/account'), { picture }, FORM)).status, 200);
};
const remove = async (): Promise<void> => {
  assert.equal((await browser.upload(await browser.get('/account'), { action: 'remove' }, FORM)).status, 200);
};

describe('the picture of a provider', () => {
  test('is encoded again, as an upload is, and recorded', async () => {
    served.set('/large', { body: await drawing(1200, 900, () => RED).png() });
    await signIn(at('/large'));
    assert.equal(await color(), 'red');
    const [row] = await query(server, `SELECT name FROM picture WHERE account_id = ${accountId}`);
    assert.match(String(row?.['name']), /\.jpg$/);
    const { body } = await admin(server, 'GET', `/audit-events?type=account.updated&userId=${accountId}`);
    assert.deepEqual(body.items.at(-1).details, { fields: ['picture'], upstreamId: staff.id });
  });

  test('is fetched again where its address changes, or after a day', async () => {
    await signIn(at('/red'));
    const asked = () => staff.provider.asked.filter((path) => path === '/red').length;
    const before = asked();
    await signIn(at('/red'));
    assert.equal(asked(), before, 'not at each sign-in');
    await signIn(at('/blue'));
    assert.equal(await color(), 'blue');
    served.set('/blue', { body: red });
    server.advance(DAY);
    await signIn(at('/blue'));
    assert.equal(await color(), 'red');
  });

  test('changes nothing where it is the same', async () => {
    await signIn(at('/red'));
    const before = await query(server, `SELECT name FROM picture WHERE account_id = ${accountId}`);
    server.advance(DAY);
    await signIn(at('/red'));
    assert.deepEqual(await query(server, `SELECT name FROM picture WHERE account_id = ${accountId}`), before);
  });

  test('never replaces one that was set here, and does not come back where it was removed', async () => {
    await upload(blue);
    await signIn(at('/red'));
    assert.equal(await color(), 'blue');
    await remove();
    await signIn(at('/red'));
    assert.equal(await color(), 'red');
    await remove();
    await signIn(at('/blue'));
    assert.equal(await color(), 'none');
    await upload(red);
    await signIn(at('/blue'));
    assert.equal(await color(), 'red');
  });

  test('is fetched when the sign-in is complete, after the second factor, and not before', async () => {
    const factor = await enroll(server, { id: accountId });
    staff.provider.person = { sub: username, picture: at('/red') };
    const asked = () => staff.provider.asked.filter((path) => path === '/red').length;
    const before = asked();
    const other = agent(server.baseUrl);
    const back = await throughUpstream(other, staff);
    assert.equal(back.location?.pathname, '/login/verify');
    assert.deepEqual([asked(), await color()], [before, 'none']);
    const code = totpCode(factor, server.now());
    await other.submit(await other.get(back.location.href), { code, with: 'app' }, '/login/verify');
    assert.equal(await color(), 'red');
  });

  test('stays where a token has none', async () => {
    await signIn(at('/red'));
    const back = await signIn(undefined);
    assert.equal(await color(), 'red');
    assert.doesNotMatch(await traceOf(back), /is left as it is/);
  });
});

describe('a picture that cannot be had leaves the sign-in whole, and the trace says why', () => {
  const rows: readonly (readonly [string, { status?: number; body: Uint8Array | string }, RegExp])[] = [
    ['is missing', { status: 404, body: 'none' }, /the status 404, not 200/],
    ['leads elsewhere', { status: 302, body: '' }, /the status 302, not 200/],
    ['is empty', { body: '' }, /the answer is empty/],
    ['is a page', { body: '<html>' }, /no JPEG, PNG or WebP file/],
    ['is an SVG', { body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }, /no JPEG, PNG or WebP file/],
    ['is too long', { body: Buffer.alloc(1024 * 1024 + 1) }, /longer than 1048576 bytes/],
    ['is a bomb', { body: png(30_000, 30_000, { data: Buffer.alloc(9) }) }, /too many pixels/],
    ['is broken', { body: png(9, 9).subarray(0, 40) }, /damaged or not whole/],
    ['never answers', { body: 'never' }, /no answer within 3 seconds/],
  ];
  for (const [name, answer, reason] of rows) {
    test(name, async () => {
      served.set('/odd', answer);
      const back = await signIn(`${at('/odd')}?key=of-ada`);
      assert.match(await traceOf(back), reason);
      assert.ok((await traceOf(back)).includes(staff.provider.issuer), 'it names the server');
      assert.doesNotMatch(await traceOf(back), /of-ada|\/odd/, 'the address may be a secret');
      assert.match(await traceOf(back), /The picture of the user is left as it is/);
      assert.equal(await color(), 'none');
    });
  }

  test('is no address', async () => {
    for (const picture of [5, 'ada.png', 'javascript:alert(1)', 'file:///etc/passwd', 'https://a:b@img.example/']) {
      assert.match(await traceOf(await signIn(picture)), /\/picture is not an https URL/);
    }
    assert.match(await traceOf(await signIn('http://img.example/ada.png')), /the address must use https/);
  });
});

describe('a picture that comes too late is not taken', () => {
  const change = (fields: object) => admin(server, 'PATCH', `/upstreams/${staff.id}`, fields);
  const rows: Readonly<Record<string, readonly [during: () => Promise<unknown>, after: () => Promise<unknown>]>> = {
    'where the account was suspended meanwhile': [
      () => admin(server, 'PUT', `/users/${accountId}/suspension`, {}),
      () => admin(server, 'DELETE', `/users/${accountId}/suspension`),
    ],
    'where the provider was disabled meanwhile': [
      () => admin(server, 'POST', `/upstreams/${staff.id}/disable`, {}),
      () => admin(server, 'POST', `/upstreams/${staff.id}/enable`, {}),
    ],
    'where its map names none any more': [
      () => change({ claimsMap: { name: '/name' } }),
      () => change({ claimsMap: { name: '/name', picture: '/picture' } }),
    ],
  };
  for (const [name, [during, afterwards]] of Object.entries(rows)) {
    test(name, async () => {
      served.set('/late', { body: red, meanwhile: during });
      await signIn(at('/late'));
      await afterwards();
      server.advance(11_000);
      assert.equal(await color(), 'none');
      await signIn(at('/red'));
      assert.equal(await color(), 'red', 'the next sign-in takes it');
    });
  }
});

test('where the decoder is busy, a picture is asked for again at the next sign-in, by fair shares', async () => {
  const [identity] = await query(server, `SELECT id FROM upstream_identity WHERE account_id = ${accountId}`);
  const [row] = await query(server, `SELECT generation FROM upstream WHERE id = ${staff.id}`);
  const came = {
    ...{ upstreamId: staff.id, generation: String(row?.['generation']), identityId: String(identity?.['id']) },
    ...{ upstreamSid: null, amr: [], issuedAt: server.now() },
  };
  const shares: (readonly string[])[] = [];
  const busy: Pictures = {
    async convert(_file, flows = []) {
      shares.push(flows);
      throw new Failure('unavailable', 'Too many pictures are being uploaded.');
    },
  };
  const origin = { requestId: 'a', address: '192.0.2.7', actor: { type: 'anonymous', id: null } } as const;
  const take = (pictures: Pictures) =>
    withData(server, ({ database, clock }) =>
      takePicture(
        { database, clock, pictures, upstreams: { outgoing: outgoing({ local: true, networks: [] }) } },
        came,
        at('/red'),
        origin,
      ),
    );
  assert.equal((await take(busy))?.isBusy, true);
  assert.deepEqual(shares, [[...addressFlows(origin), `account ${accountId}`]]);
  assert.equal(shares[0]?.length, 2);
  assert.equal(await take(pictures()), undefined);
  assert.equal(await color(), 'red');
});

test('a picture is not fetched from a private network, unless the provider itself is there', async () => {
  const rules: OutgoingRules = { local: false, networks: ['10.0.0.0/8'] };
  const guarded = outgoing(rules, async () => [{ address: '10.0.0.5', family: 4 }]);
  const services = { outgoing: guarded, pictures: pictures() };
  const from = async (issuer: string, address: string) => {
    const found = await fetchPicture(services, { issuer, address, flows: [] });
    return 'problem' in found ? found.problem : 'a picture';
  };
  for (const address of [
    'https://127.0.0.1/a',
    'https://169.254.169.254/a',
    'https://[::1]/a',
    'https://inside.example/a',
  ]) {
    assert.match(await from('https://id.example', address), /is not on the public internet/, address);
  }
  assert.match(await from('https://id.example', 'http://img.example/a'), /must use https/);
  const own = await from('https://10.0.0.5:1', 'https://10.0.0.5:1/a');
  assert.doesNotMatch(own, /is not on the public internet/, 'it was asked');
});
