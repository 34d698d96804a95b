// store: none
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { isPublicAddress, type OutgoingRequest, outgoing } from './outgoing.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const LOCAL = { local: true, networks: [] };
const PUBLIC = { local: false, networks: [] };
const post = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  body: 'a=b',
  longestBody: 100,
  timeoutMs: 10_000,
  ...more,
});

const closed = [
  ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '0.0.0.0'],
  ...['100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '192.0.2.1'],
  ...['::1', '::', 'fe80::1', 'fd00::1', 'fc00::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'],
  ...['2001:db8::1', '2002:7f00:1::', '2001::1', 'localhost', ''],
];
for (const address of closed) {
  test(`${JSON.stringify(address)} is not on the public internet`, () => assert.equal(isPublicAddress(address), false));
}
for (const address of ['1.1.1.1', '172.15.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1']) {
  test(`${address} is on the public internet`, () => assert.equal(isPublicAddress(address), true));
}

const refused: [string, string, RegExp][] = [
  ['http beyond loopback', 'http://app.example.com/logout', /https/],
  ['a loopback address', 'https://127.0.0.1/logout', /not on the public internet/],
  ['a loopback address in IPv6', 'https://[::1]/logout', /not on the public internet/],
  ['a loopback address written as a number', 'https://2130706433/logout', /not on the public internet/],
  ['the metadata service of a cloud', 'https://169.254.169.254/latest', /not on the public internet/],
  ['a name that resolves to a private address', 'https://inside.example.com/logout', /not on the public internet/],
];
for (const [what, url, reason] of refused) {
  test(`SSRF: ${what} is rejected before any connection`, async () => {
    const ask = outgoing(PUBLIC, async () => [{ address: '10.0.0.7', family: 4 }]);
    await assert.rejects(ask(post(url)), { name: 'OutgoingFailed', message: reason });
  });
}

test('a network that the operator allowed is reached, and no other', async () => {
  const ask = outgoing({ local: false, networks: ['127.0.0.0/8'] }, async () => [{ address: '127.0.0.1', family: 4 }]);
  const port = await listening((_request, reply) => reply.end());
  // The server does not speak TLS: this error shows that the connection was made.
  await assert.rejects(ask(post(`https://inside.example.com:${port}/`)), /wrong version number|EPROTO|packet length/i);
  await assert.rejects(ask(post('https://10.0.0.1/')), /not on the public internet/);
});

test('SSRF: what the operator allowed is not reached where a stranger chose the address', async () => {
  const inside = [{ address: '127.0.0.1', family: 4 }];
  const ask = outgoing({ local: false, networks: ['127.0.0.0/8'] }, async () => inside);
  const strangers = { ...post('https://inside.example.com/'), publicOnly: true };
  await assert.rejects(ask(strangers), { name: 'OutgoingFailed', message: /that no operator chose/ });
});

test('SSRF: of several addresses of a name, only the allowed ones are tried', async () => {
  let reached = 0;
  const port = await listening((_request, reply) => reply.end());
  servers.at(-1)?.on('connection', () => reached++);
  const ask = outgoing({ local: false, networks: ['127.0.0.2'] }, async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ]);
  await assert.rejects(ask(post(`https://both.example.com:${port}/`)), { name: 'OutgoingFailed' });
  assert.equal(reached, 0);
});

test('http is only for a developer’s machine, even with allowed networks', async () => {
  const ask = outgoing({ local: false, networks: ['127.0.0.0/8', '::1'] }, async () => assert.fail('looked up'));
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    await assert.rejects(ask(post(`http://${host}:1/`)), /must use https/, host);
  }
});

test('a name is resolved once, and the connection uses the address that was checked', async () => {
  let asked = 0;
  const port = await listening((_request, reply) => reply.end('here'));
  const ask = outgoing(LOCAL, async () => {
    asked++;
    return [{ address: asked === 1 ? '127.0.0.1' : '203.0.113.1', family: 4 }];
  });
  const answer = await ask(post(`http://localhost:${port}/`));
  assert.equal(answer.body.toString(), 'here');
  assert.equal(asked, 1);
});

test('a request arrives as it was given; redirects are answers, and are not followed', async () => {
  const seen: string[] = [];
  const port = await listening(async (request, reply) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`);
    reply.writeHead(302, { location: '/elsewhere' }).end();
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await outgoing(LOCAL)(post(`http://127.0.0.1:${port}/logout?x=1`, { headers }));
  assert.equal(answer.status, 302);
  assert.deepEqual(seen, ['POST /logout?x=1 application/x-www-form-urlencoded a=b']);
});

test('an answer that is too long is not read to its end', async () => {
  const port = await listening((_request, reply) => reply.end('x'.repeat(1000)));
  await assert.rejects(outgoing(LOCAL)(post(`http://127.0.0.1:${port}/`)), /longer than 100 bytes/);
  const { longestBody: _, ...unread } = post(`http://127.0.0.1:${port}/`);
  assert.equal((await outgoing(LOCAL)(unread)).status, 200);
});

test('the wait for an answer ends with the timeout', async () => {
  const port = await listening(() => {});
  await assert.rejects(
    outgoing(LOCAL)(post(`http://127.0.0.1:${port}/`, { timeoutMs: 20 })),
    /no answer within 0.02 seconds/,
  );
  const never = outgoing(PUBLIC, () => new Promise(() => {}));
  await assert.rejects(never(post('https://app.example.com/', { timeoutMs: 20 })), /no answer within/);
});

test('the error names a refused and a broken connection', async () => {
  const port = await listening((request) => request.socket.destroy());
  await assert.rejects(outgoing(LOCAL)(post(`http://127.0.0.1:${port}/`)), /closed without an answer/);
  const [server] = servers.slice(-1);
  await new Promise((resolve) => server?.close(resolve));
  await assert.rejects(outgoing(LOCAL)(post(`http://127.0.0.1:${port}/`)), /nothing listens there/);
});

test('headers for the operator’s own networks are sent there, and nowhere else', async () => {
  const seen: unknown[] = [];
  const port = await listening((request, reply) => {
    seen.push(request.headers['traceparent']);
    reply.end();
  });
  const request = post(`http://localhost:${port}/`, { ownNetworkHeaders: { traceparent: 'x' } });
  const own = await outgoing(LOCAL, async () => [{ address: '127.0.0.1', family: 4 }])(request);
  // It leads to this machine as well, but is neither a loopback address nor in a named network.
  const other = async () => [{ address: '0.0.0.0', family: 4 }];
  const elsewhere = await outgoing(LOCAL, other)(request);
  const named = await outgoing({ local: true, networks: ['0.0.0.0'] }, other)(request);
  assert.deepEqual([own.status, elsewhere.status, named.status], [200, 200, 200]);
  assert.deepEqual(seen, ['x', undefined, 'x']);
});
