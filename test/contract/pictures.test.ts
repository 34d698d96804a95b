// store: SQLite, PostgreSQL with --all
/** A person's own picture: what is taken, what becomes of it, who sees it and for how long. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { Transformer } from '@napi-rs/image';
import { LARGEST_PICTURE } from '../../src/pictures/pictures.ts';
import { type Answer, agent, cookieName, formOf } from '../support/agent.ts';
import {
  admin,
  claimsOf,
  newClient,
  newUser,
  refresh,
  signedIn,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import {
  BLUE,
  chunk,
  colorIn,
  drawing,
  extendedWebp,
  landscape,
  png,
  pngOfSize,
  RED,
  tiff,
  withExif,
} from '../support/images.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const FORM = '/account/picture';

const server = await startServer();
after(() => server.close());
const ada = await newUser(server);
const browser = await signedIn(server, ada);
const client = await newClient(server);
let tokens = await tokensFor(server, client, ada, {}, { browser });

const fileOf = (bytes: Uint8Array, name = 'me.jpg', type = 'image/jpeg') =>
  new File([new Uint8Array(bytes)], name, { type });
const send = async (file: File | Uint8Array, from = browser): Promise<Answer> =>
  from.upload(await from.get('/account'), { picture: file instanceof File ? file : fileOf(file) }, FORM);
const remove = async (): Promise<Answer> => browser.upload(await browser.get('/account'), { action: 'remove' }, FORM);

/** Where UserInfo says that the picture is. */
async function address(): Promise<string> {
  const { body } = await userinfo(server, tokens.access_token);
  const { baseUrl, path, color } = body.user.avatar;
  assert.match(color, /^#[0-9a-f]{6}$/);
  return baseUrl + path;
}
const fetched = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(url, { redirect: 'manual', headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};
async function uploaded(file: Uint8Array): Promise<Buffer> {
  const answer = await send(file);
  assert.equal(answer.status, 200, answer.text);
  return (await fetched(await address())).bytes;
}
const initials = () => `${server.baseUrl}/avatars/${ada.id}.svg`;

test('a new picture is at UserInfo, standard UserInfo and in the ID token with the next request', async () => {
  const before = await address();
  assert.equal(before, initials());
  const answer = await send(await landscape().jpeg());
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /Your picture is changed/);
  const now = await address();
  assert.match(now.slice(server.baseUrl.length), new RegExp(`^/avatars/${ada.id}/[A-Za-z0-9_-]{22}\\.jpg$`));
  const standard = await userinfo(server, tokens.access_token, '/oidc/userinfo');
  assert.equal(standard.body.picture, now);
  const renewed = await refresh(server, client, tokens.refresh_token);
  tokens = renewed.body;
  const claims = claimsOf(tokens.id_token);
  assert.deepEqual([claims.picture, claims.avatarUrl], [now, now]);
  assert.ok(answer.text.includes(`src="${now.slice(server.baseUrl.length)}"`), 'the page shows it');
});

test('it is served as what it is, to pages of other origins too, and can do nothing there', async () => {
  const url = await address();
  const { status, headers, bytes } = await fetched(url);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'image/jpeg');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
  assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(headers.get('cache-control'), 'public, max-age=60');
  assert.equal(headers.get('set-cookie'), null);
  assert.ok(bytes.length > 100);
  const again = await fetched(url, { 'if-none-match': headers.get('etag') ?? '' });
  assert.deepEqual([again.status, again.bytes.length], [304, 0]);
});

test('another picture has another address, and the one before leads to the initials: no app sees what it was not told', async () => {
  const first = await address();
  await send(await landscape().png());
  const second = await address();
  assert.notEqual(second, first);
  const old = await fetched(first);
  assert.deepEqual([old.status, old.headers.get('location')], [302, new URL(initials()).pathname]);
  const answer = await remove();
  assert.match(answer.text, /Your picture is removed/);
  assert.equal(await address(), initials());
  assert.equal((await fetched(second)).status, 302);
  assert.equal((await fetched(initials())).headers.get('content-type'), 'image/svg+xml');
  assert.deepEqual(await query(server, 'SELECT name FROM picture WHERE account_id = ?', ada.id), []);
  assert.equal((await remove()).status, 200, 'there is nothing to remove, and no harm');
});

const CORNERS = [
  [20, 20],
  [80, 20],
  [20, 80],
  [80, 80],
] as const;
const upright = ['green', 'blue', 'red', 'blue'];
const turned = ['red', 'green', 'blue', 'blue'];
const drawn: Readonly<Record<string, () => Promise<readonly [file: Uint8Array, corners: readonly string[]]>>> = {
  JPEG: async () => [await landscape().jpeg(95), upright],
  'JPEG that lies on its side': async () => [withExif(await landscape().jpeg(95), 6), turned],
  'PNG that lies on its side': async () => {
    const file = await landscape().png();
    return [Buffer.concat([file.subarray(0, 33), chunk('eXIf', tiff(6)), file.subarray(33)]), turned];
  },
  'WebP that lies on its side': async () => [extendedWebp(await landscape().webpLossless(), [200, 100], 6), turned],
  'WebP with loss': async () => [await landscape().webp(90), upright],
};
for (const [name, make] of Object.entries(drawn)) {
  test(`${name}: the square of its middle, upright`, async () => {
    const [file, corners] = await make();
    const bytes = await uploaded(file);
    const { width, height, format } = await new Transformer(bytes).metadata();
    assert.deepEqual([width, height, format], [100, 100, 'jpeg']);
    assert.deepEqual(await Promise.all(CORNERS.map(([x, y]) => colorIn(bytes, x, y))), corners);
  });
}

test('nothing of a file is kept but its pixels', async () => {
  const secret = 'N 41.0082 E 28.9784';
  const jpeg = withExif(await landscape().jpeg(), 1, secret);
  const behind = Buffer.concat([jpeg, Buffer.from(`<script>${secret}</script>`)]);
  const text = png(9, 9, { extra: [chunk('tEXt', Buffer.from(`Comment\0${secret}`))] });
  for (const file of [behind, text]) {
    assert.ok(file.includes(secret));
    const bytes = await uploaded(file);
    assert.ok(!bytes.includes(secret) && !bytes.includes('Exif') && !bytes.includes('script'));
  }
});

test('a large picture becomes one of 512 pixels; what can be seen through stays so, in a PNG', async () => {
  const large = await uploaded(png(1600, 1200));
  const { width, height } = await new Transformer(large).metadata();
  assert.deepEqual([width, height], [512, 512]);
  const cut = await uploaded(await drawing(60, 60, (x) => (x < 30 ? [0, 0, 0, 0] : BLUE)).webpLossless());
  assert.deepEqual([await colorIn(cut, 20, 50), await colorIn(cut, 80, 50)], ['clear', 'blue']);
  const served = await fetched(await address());
  assert.match(await address(), /\.png$/);
  assert.equal(served.headers.get('content-type'), 'image/png');
});

const LIE = { data: Buffer.alloc(9) };
const hostile: Readonly<
  Record<string, () => Promise<readonly [file: File | Uint8Array, status: number, text: RegExp]>>
> = {
  'no file': async () => [new File([], ''), 400, /Choose a picture file/],
  'an empty file': async () => [new File([], 'me.png', { type: 'image/png' }), 400, /Choose a picture file/],
  'SVG that says it is a PNG': async () => [
    fileOf(
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      'me.png',
      'image/png',
    ),
    400,
    /not a JPEG, PNG or WebP/,
  ],
  HTML: async () => [Buffer.from('<!doctype html><script>alert(1)</script>'), 400, /not a JPEG, PNG or WebP/],
  GIF: async () => [Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), 400, /not a JPEG, PNG or WebP/],
  'HTML behind the first bytes of a PNG': async () => [
    Buffer.concat([png(9, 9).subarray(0, 8), Buffer.from('<script>alert(1)</script>'.repeat(9))]),
    400,
    /cannot be read/,
  ],
  'HTML behind the first bytes of a JPEG': async () => [
    Buffer.from('\xff\xd8\xff\xe0<script>', 'latin1'),
    400,
    /cannot be read/,
  ],
  'a JPEG cut in half': async () => [(await landscape().jpeg()).subarray(0, 400), 400, /cannot be read/],
  'a PNG whose data are damaged': async () => [png(99, 99, { data: Buffer.from('none') }), 400, /cannot be read/],
  'a WebP whose picture has another size than its canvas': async () => [
    extendedWebp(await landscape().webp(), [2000, 1000], 1),
    400,
    /cannot be read/,
  ],
  'a few bytes that stand for 900 million pixels': async () => [png(30_000, 30_000, LIE), 400, /too many pixels/],
  'a few bytes that stand for 4 thousand million by 1': async () => [png(0xffff_ffff, 1, LIE), 400, /too many pixels/],
  'a canvas of 2⁴⁸ pixels': async () => [
    extendedWebp(await landscape().webp(), [16_777_216, 16_777_216], 1),
    400,
    /too many pixels/,
  ],
  'a byte more than 1 MiB': async () => [pngOfSize(LARGEST_PICTURE + 1), 413, /larger than 1 MB/],
  'five times as much': async () => [pngOfSize(5 * LARGEST_PICTURE), 413, /larger than 1 MB/],
};

test('a file that is no picture we take is refused at its field, and nothing changes', async (t) => {
  const before = await address();
  for (const [name, make] of Object.entries(hostile)) {
    await t.test(name, async () => {
      const [file, status, text] = await make();
      const answer = await send(file);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(answer.text, /<input id="picture"[^>]* aria-invalid="true"/);
      assert.match(/<p class="problem" id="picture-note">([^<]+)/.exec(answer.text)?.[1] ?? '', text);
      assert.equal(await address(), before);
    });
  }
});

test('a file of 1 MiB is accepted, and a text that decompresses to 20 MB is refused cheaply', async () => {
  assert.equal((await send(pngOfSize(LARGEST_PICTURE))).status, 200);
  const folded = Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(Buffer.alloc(20_000_000))]);
  assert.equal((await send(png(9, 9, { extra: [chunk('zTXt', folded)] }))).status, 200);
});

test('a form that is not one of ours is refused before anything is made of it', async () => {
  const token = formOf((await browser.get('/account')).text, FORM).hidden['form_token'] ?? '';
  // One that stands nowhere in the bytes of a picture.
  const boundary = 'a-boundary-of-our-own';
  const part = (name: string, more = '', content = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
  const file = part('picture', '; filename="a.png"\r\nContent-Type: image/png', png(9, 9).toString('latin1'));
  const good = part('form_token', '', token);
  const end = `--${boundary}--\r\n`;
  const type = `multipart/form-data; boundary=${boundary}`;
  const bodies: Readonly<Record<string, readonly [string, string]>> = {
    'ten thousand parts': [type, `${good}${part('a').repeat(10_000)}${file}${end}`],
    'ten thousand parts, and the name of another boundary': [
      `multipart/form-data; xboundary=y; boundary=${boundary}`,
      `${good}${part('a').repeat(10_000)}${file}${end}`,
    ],
    'two files': [type, `${good}${file}${file}${end}`],
    'a file of another name': [type, `${good}${part('other', '; filename="b.png"', 'b')}${file}${end}`],
    'no end': [type, `${good}${file}`],
    'no boundary': ['multipart/form-data', `${good}${file}${end}`],
    'no form': [type, 'x'],
  };
  const before = await address();
  const sendBody = (contentType: string, body: string) => {
    const headers = { cookie, 'content-type': contentType, accept: 'text/html', origin: server.baseUrl };
    return fetch(server.baseUrl + FORM, { method: 'POST', headers, body: Buffer.from(body, 'latin1') });
  };
  const cookie = ['tessera_browser', 'tessera_session']
    .map((name) => `${cookieName(server.baseUrl, name)}=${browser.cookie(name)}`)
    .join('; ');
  for (const [name, [contentType, body]] of Object.entries(bodies)) {
    const answer = await sendBody(contentType, body);
    assert.equal(answer.status, 400, name);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/, name);
  }
  assert.equal(await address(), before);
  assert.equal((await sendBody(type, `${good}${file}${end}`)).status, 200, 'what they differ from is one of ours');
});

test('only the person who is signed in changes the picture, by a form of their own', async () => {
  const before = await address();
  const file = fileOf(png(9, 9));
  const bob = await signedIn(server, await newUser(server));
  const hers = await browser.get('/account');
  assert.equal((await bob.upload(hers, { picture: file }, FORM)).status, 400);
  assert.equal((await browser.upload(hers, { picture: file, form_token: 'x' }, FORM)).status, 400);
  const anonymous = await agent(server.baseUrl).upload(hers, { picture: file }, FORM);
  assert.equal(anonymous.location?.pathname, '/login');
  const foreign = await browser.post(FORM, { action: 'remove' }, { origin: 'https://evil.example' });
  assert.equal(foreign.status, 403);
  assert.equal(await address(), before);
});

test('the record tells of the change in one commit with it, without the picture', async () => {
  const events = await query(
    server,
    "SELECT details, actor_id FROM audit_event WHERE type = 'account.updated' AND account_id = ? ORDER BY id",
    ada.id,
  );
  assert.ok(events.length > 5);
  for (const event of events) {
    assert.deepEqual(JSON.parse(String(event['details'])), { fields: ['picture'] });
    assert.equal(String(event['actor_id']), ada.id);
  }
  const count = () => query(server, 'SELECT count(*) AS n FROM audit_event WHERE account_id = ?', ada.id);
  const before = await count();
  await send(Buffer.from('no picture'));
  assert.deepEqual(await count(), before);
});

test('a picture that waits while its person is barred or signed out changes nothing', async () => {
  const small = fileOf(await drawing(20, 20, () => RED).png());
  // As many pixels as are accepted, so that the next upload waits.
  const large = fileOf(png(4096, 4096));
  const other = await signedIn(server, await newUser(server));
  const othersPage = await other.get('/account');
  const events: Readonly<Record<string, (user: TestUser) => Promise<{ status: number }>>> = {
    'account.banned': ({ id }) => admin(server, 'PUT', `/users/${id}/ban`, {}),
    'account.signed_out_everywhere': ({ id }) => admin(server, 'DELETE', `/users/${id}/sessions`),
  };
  for (const [event, happen] of Object.entries(events)) {
    const user = await newUser(server);
    const own = await signedIn(server, user);
    const page = await own.get('/account');
    const ahead = Array.from({ length: 6 }, () => other.upload(othersPage, { picture: large }, FORM));
    await other.get('/account');
    const upload = own.upload(page, { picture: small }, FORM);
    // By the time that this is answered the upload has come, too.
    await own.get('/account');
    assert.ok((await happen(user)).status < 300);
    await Promise.all([upload, ...ahead]);
    const [last] = await query(server, 'SELECT type FROM audit_event WHERE account_id = ? ORDER BY id DESC', user.id);
    assert.equal(last?.['type'], event, 'nothing of this person comes after it');
  }
});

test('of a person who is banned, suspended or leaving the initials are shown, and of one who is deleted nothing', async () => {
  const colored = await drawing(20, 20, () => RED).png();
  await send(colored);
  const url = await address();
  for (const bar of ['ban', 'suspension']) {
    await admin(server, 'PUT', `/users/${ada.id}/${bar}`, {});
    assert.equal((await fetched(url)).status, 302);
    await admin(server, 'DELETE', `/users/${ada.id}/${bar}`);
    assert.equal((await fetched(url)).status, 200);
  }
  const due = server.now() + 86_400_000;
  await query(server, `UPDATE account SET deletion_due_at = ${due} WHERE id = '${ada.id}'`);
  const leaving = await fetched(url);
  assert.equal(leaving.status, 302, 'a person who asked for the deletion');
  assert.equal(new URL(leaving.headers.get('location') ?? '', server.baseUrl).href, initials());
  await query(server, `UPDATE account SET deletion_due_at = NULL WHERE id = '${ada.id}'`);
  const shown = await fetched(url);
  assert.equal(shown.status, 200);
  // Whoever shows a picture asks again soon, and is told at little cost that it is the same.
  const etag = shown.headers.get('etag') ?? '';
  assert.equal(shown.headers.get('cache-control'), 'public, max-age=60');
  assert.equal((await fetched(url, { 'if-none-match': etag })).status, 304);
  await admin(server, 'PUT', `/users/${ada.id}/ban`, {});
  assert.equal((await fetched(url, { 'if-none-match': etag })).status, 302);
  await admin(server, 'DELETE', `/users/${ada.id}`);
  for (const gone of [url, initials()]) assert.equal((await fetched(gone)).status, 404);
  assert.deepEqual(await query(server, 'SELECT name FROM picture WHERE account_id = ?', ada.id), []);
});

test('one person does not keep the decoder from all others: uploads are counted, and too many wait', async () => {
  const limited = await startServer({ TESSERA_LIMIT_PICTURE_ACCOUNT: '2/h' });
  try {
    const [one, other] = [
      await signedIn(limited, await newUser(limited)),
      await signedIn(limited, await newUser(limited)),
    ];
    assert.equal((await send(png(4, 4), one)).status, 200);
    assert.equal((await send(new Uint8Array([1, 2, 3]), one)).status, 400, 'what is no picture counts as well');
    const refused = await send(png(4, 4), one);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 3000);
    assert.match(refused.text, /You changed your picture too often\. Wait/);
    assert.equal((await one.upload(await one.get('/account'), { action: 'remove' }, FORM)).status, 200);
    assert.equal((await send(png(4, 4), other)).status, 200);
  } finally {
    await limited.close();
  }
});
