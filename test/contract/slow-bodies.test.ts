// store: SQLite, PostgreSQL with --all
/** Slow bodies: no client can hold so many that others are not served. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { LARGEST_PICTURE } from '../../src/pictures/pictures.ts';
import { type Agent, type Answer, agent, cookieName } from '../support/agent.ts';
import { assertRefused, call, TOKEN } from '../support/api-call.ts';
import { newClient, newUser, PASSWORD } from '../support/flow.ts';
import { landscape, pngOfSize } from '../support/images.ts';
import { raw } from '../support/raw-socket.ts';
import { ADMIN_KEY, startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_TRUST_PROXY: '1', TESSERA_LIMIT_CLIENT_AUTH: 'off' });
const port = Number(new URL(server.baseUrl).port);
const open = new Set<Socket>();
after(async () => {
  for (const socket of open) socket.destroy();
  await server.close();
});

interface Slow {
  /** Sends the rest of the body. */
  finish(): void;
  /** Hangs up, and tells when the server has noticed. */
  hangUp(): Promise<void>;
  /** The first answer, with its headers. */
  readonly answer: Promise<string>;
}

/**
 * Sends a request but for its last octets. The server answers "100 Continue" as soon as it has its header, and in that turn decides
 * whether it takes the body: this promise waits for the former.
 */
function slow(path: string, headers: Readonly<Record<string, string>>, rest = '0\r\n\r\n'): Promise<Slow> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    open.add(socket);
    let text = '';
    let tell: (answer: string) => void;
    const answer = new Promise<string>((told) => {
      tell = told;
    });
    const ended = new Promise<void>((told) => {
      socket.on('close', () => told());
    });
    const made: Slow = {
      answer,
      finish: () => void socket.write(rest),
      hangUp: () => {
        socket.destroy();
        return ended;
      },
    };
    socket.on('error', reject);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (text.startsWith('HTTP/1.1 100 ')) resolve(made);
      const [, final] = /^HTTP\/1\.1 100 Continue\r\n\r\n(HTTP\/1\.1 [\s\S]*)/.exec(text) ?? [];
      if (final !== undefined) tell(final);
    });
    const lines = Object.entries({
      host: 'localhost',
      expect: '100-continue',
      'transfer-encoding': 'chunked',
      ...headers,
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n1\r\n{\r\n`,
    );
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

const person = async (address: string): Promise<Agent> => {
  const user = await newUser(server);
  const browser = agent(server.baseUrl, undefined, { 'x-forwarded-for': address });
  const page = await browser.get('/login');
  await browser.submit(page, { identifier: user.username, password: PASSWORD });
  assert.ok(browser.cookie('tessera_session'));
  return browser;
};
const slowUpload = (from: Agent, address: string) =>
  slow('/account/picture', {
    cookie: ['tessera_browser', 'tessera_session']
      .map((name) => `${cookieName(server.baseUrl, name)}=${from.cookie(name)}`)
      .join('; '),
    'content-type': 'multipart/form-data; boundary=b',
    'x-forwarded-for': address,
    origin: server.baseUrl,
    accept: 'text/html',
  });
const file = new Uint8Array(await landscape().jpeg());
const picture = new File([file], 'me.jpg', { type: 'image/jpeg' });
const large = new File([new Uint8Array(pngOfSize(LARGEST_PICTURE))], 'me.png', { type: 'image/png' });
const upload = async (from: Agent, sent = picture): Promise<Answer> =>
  from.upload(await from.get('/account'), { picture: sent }, '/account/picture');
/**
 * Begins requests of which no more than `room` are let in, and waits until the others are answered: then all of the room is taken.
 * @returns the answers of those others, and all that were begun
 */
async function fill(room: number, begin: readonly (() => Promise<Slow>)[]) {
  const begun = await Promise.all(begin.map((one) => one()));
  const refusals: string[] = [];
  await new Promise<void>((full) => {
    for (const { answer } of begun) {
      void answer.then((text) => {
        if (refusals.push(text) === begun.length - room) full();
      });
    }
  });
  return { refusals, begun };
}
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** Repeats an upload until it is answered like this: a caller that hung up makes room at its own time. */
async function until(status: number, ask: () => Promise<Answer>): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) if ((await ask()).status === status) return;
  throw new Error(`not answered with ${status}`);
}
/** An upload without the token of its form, which does not count as a picture of its person. */
const strayUpload = async (from: Agent): Promise<Answer> =>
  from.upload(await from.get('/account'), { picture, form_token: 'x' }, '/account/picture');
/** The picture of an app, which an operator sends. */
const operatorUpload = (clientId: string, address: string) =>
  call(
    server,
    'PUT',
    `/api/v2/admin/clients/${clientId}/picture`,
    { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'image/jpeg', 'x-forwarded-for': address },
    file,
  );

const ADDRESSES = Array.from({ length: 9 }, (_, n) => `203.0.113.${n + 1}`) as [string, string, ...string[]];
const [HOME, ELSEWHERE] = ADDRESSES;
const LAST = ADDRESSES.at(-1) ?? '';

test('AV-03: slow uploads of one user do not keep others from uploading, and are bounded for an address', async () => {
  const [ada, bob, carol, dave] = await Promise.all([person(HOME), person(HOME), person(HOME), person(ELSEWHERE)]);
  const { refusals, begun } = await fill(
    4,
    times(6, () => slowUpload(ada, HOME)),
  );
  for (const refused of refusals) {
    assert.equal(statusOf(refused), 429);
    assert.match(refused, /\r\nretry-after: [1-9]\d*\r\n/i);
    assert.match(refused, /\r\ncontent-type: text\/html/i);
    assert.match(refused, /Too many files are being sent by you, or from your address/);
  }
  assert.equal((await upload(ada, large)).status, 429, 'a browser that sends all of it sees the answer');
  assert.equal((await upload(bob)).status, 200);
  // The next request over the connection is read once the upload before it is over.
  await bob.get('/account');
  const more = await fill(
    4,
    times(6, () => slowUpload(bob, HOME)),
  );
  assert.deepEqual(more.refusals.map(statusOf), [429, 429]);
  assert.equal((await upload(carol)).status, 429);
  const app = await newClient(server);
  const operator = await operatorUpload(app.clientId, HOME);
  assertRefused(operator, 429, 'rate_limit_exceeded');
  assert.match(operator.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.equal((await upload(dave)).status, 200);
  assert.equal((await operatorUpload(app.clientId, ELSEWHERE)).status, 200);
  // An upload that ends, or whose caller hangs up, makes room.
  await Promise.all([...begun, ...more.begun].map((one) => one.hangUp()));
  await until(200, () => upload(carol));
  await until(400, () => strayUpload(ada));
});

test('AV-03: where every place is taken an upload is refused with 503, until one is free', async () => {
  const begin: (() => Promise<Slow>)[] = [];
  for (const address of ADDRESSES.slice(0, 8)) {
    for (const from of await Promise.all([person(address), person(address)])) {
      begin.push(...times(4, () => slowUpload(from, address)));
    }
  }
  const late = await person(LAST);
  const { refusals, begun } = await fill(64, [...begin, ...times(2, () => slowUpload(late, LAST))]);
  for (const refused of refusals) {
    assert.equal(statusOf(refused), 503);
    assert.match(refused, /\r\nretry-after: [1-9]\d*\r\n/i);
    assert.match(refused, /Too many files are being sent\./);
  }
  await Promise.all(begun.map((one) => one.hangUp()));
  await until(200, () => upload(late));
});

// An unfinished body of unknown length takes 64 KiB and 48 KiB beside it, and an address has 8 MiB.
const ROOM = Math.floor((8 * 1024) / (64 + 48));
const BEYOND = 5;

test('AV-03: unfinished bodies of an address are bounded; whole ones and other addresses are served meanwhile', async () => {
  const json = (address: string) => ({ 'content-type': 'application/json', 'x-forwarded-for': address });
  const begin = (address: string) => () => slow(TOKEN, json(address), '1\r\n}\r\n0\r\n\r\n');
  const { refusals, begun } = await fill(ROOM, times(ROOM + BEYOND, begin(HOME)));
  const answers = Promise.all(begun.map(({ answer }) => answer));
  for (const refused of refusals) {
    assert.equal(statusOf(refused), 429);
    assert.match(refused, /\r\nretry-after: [1-9]\d*\r\n/i);
    assert.match(refused, /\r\nconnection: close\r\n/i);
    assert.match(
      refused,
      /"rate_limit_exceeded","error_description":"Too many requests from this address have sent only/,
    );
  }

  const lines = [`POST ${TOKEN} HTTP/1.1`, 'Host: localhost', 'Connection: close', 'Content-Length: 2'];
  const header = [...lines, ...Object.entries(json(HOME)).map(([name, value]) => `${name}: ${value}`)];
  for (let n = 0; n < 10; n++) {
    const [answer] = await raw(server, `${header.join('\r\n')}\r\n\r\n{}`);
    assert.equal(answer?.status, 401, 'what comes as a whole is answered');
  }
  const elsewhere = await begin(ELSEWHERE)();
  elsewhere.finish();
  assert.equal(statusOf(await elsewhere.answer), 401);

  // Those that were let in are read to their ends, and then there is room again.
  for (const body of begun) body.finish();
  const statuses = (await answers).map(statusOf);
  assert.equal(statuses.filter((status) => status === 429).length, BEYOND);
  assert.equal(statuses.filter((status) => status === 401).length, ROOM);
  const again = await Promise.all(times(ROOM, begin(HOME)).map((one) => one()));
  for (const body of again) body.finish();
  for (const { answer } of again) assert.equal(statusOf(await answer), 401);
});
