// store: SQLite, PostgreSQL with --all
/** Traces and metrics by OTLP: what a collector gets, what it never gets, and what happens without it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { start } from '../../src/app.ts';
import { VERSION } from '../../src/platform/version.ts';
import { readConfig } from '../../src/settings/config.ts';
import { Canaries } from '../security/canaries.ts';
import { agent, cookieName } from '../support/agent.ts';
import {
  admin,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startReceiver } from '../support/logout-receiver.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';
import { serve } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-telemetry-'));
let settings: Record<string, string>;
let database: Awaited<ReturnType<typeof ownDatabase>>;
const receivers: OtlpReceiver[] = [];
before(async () => {
  database = await ownDatabase();
  settings = {
    TESSERA_DATA_DIR: folder,
    TESSERA_LOG_LEVEL: 'silent',
    TESSERA_ADMIN_KEY: ADMIN_KEY,
    TESSERA_PORT: '0',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
    ...database?.environment,
  };
});
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function collector(): Promise<OtlpReceiver> {
  const receiver = await startOtlpReceiver();
  receivers.push(receiver);
  return receiver;
}

/** Starts a server whose telemetry goes to a collector. */
async function observed(receiver: OtlpReceiver, more: Readonly<Record<string, string>> = {}) {
  const environment = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, ...more };
  const tessera = await start(readConfig(environment));
  return { tessera, server: { baseUrl: tessera.baseUrl } as TestServer };
}

const USERINFO = '/api/v2/oauth/userinfo';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const parent = (flags: string) => ({ traceparent: `00-${TRACE}-${SPAN}-${flags}` });

/** Asks for something of no route, under a traceparent; each span is told apart by its request's id. */
async function ask(server: TestServer, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${server.baseUrl}${USERINFO}`, { headers });
  assert.equal(answer.status, 401);
  return answer.headers.get('x-request-id') ?? '';
}

/** How many requests for UserInfo were answered, in the last metrics that came. */
const answeredUserInfo = (receiver: OtlpReceiver) =>
  receiver
    .metrics()
    .find(({ name }) => name === 'tessera_http_request_duration_seconds')
    ?.points.find(({ labels }) => labels['route'] === USERINFO && labels['status'] === 200);

const spanOf = (spans: readonly ReceivedSpan[], requestId: string): ReceivedSpan | undefined =>
  spans.find(({ attributes }) => attributes['tessera.request.id'] === requestId);

test('a collector gets spans and metrics; no secret is among them, and the log names the trace', async () => {
  const receiver = await collector();
  const canaries = new Canaries();
  const key = canaries.add('key of the collector', 'canary-key-of-the-collector');
  const running = await serve({
    env: {
      ...settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.endpoint}/`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${key},x-tenant=a%20b`,
      OTEL_SERVICE_NAME: 'tessera-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      TESSERA_LOG_LEVEL: 'debug',
    },
  });
  let output = '';
  running.process.stdout?.on('data', (chunk) => {
    output += String(chunk);
  });
  const ended = once(running.process, 'close');
  const server = { baseUrl: running.baseUrl } as TestServer;
  let refused = '';
  let userId = '';
  try {
    canaries.add('admin key', ADMIN_KEY);
    canaries.add('password', PASSWORD);
    const wrong = canaries.add('wrong secret', 'canary of a wrong secret');
    const client = await newClient(server);
    canaries.add('client secret', client.clientSecret);
    const user = await newUser(server, { email: canaries.add('email', 'canary@people.example') });
    userId = user.id;
    const browser = await signedIn(server, user);
    for (const name of ['tessera_session', 'tessera_browser']) canaries.add(name, browser.cookie(name));
    const code = await codeFor(server, client, user, {}, { browser });
    canaries.add('code', code);
    await redeem(server, { ...client, clientSecret: wrong }, code);
    const tokens = await tokensFor(server, client, user, {}, { browser });
    for (const name of ['access_token', 'refresh_token', 'id_token']) {
      canaries.add(name, String(tokens[name as keyof typeof tokens]));
    }
    assert.equal((await userinfo(server, tokens.access_token)).status, 200);
    await refresh(server, client, wrong);
    await admin(server, 'GET', `/users?${wrong}=${wrong}`, undefined, wrong);
    await fetch(`${server.baseUrl}/nowhere/${code}?secret=${encodeURIComponent(wrong)}`);
    await agent(server.baseUrl).get(`/login?request=${code}`);
    await fetch(`${server.baseUrl}/health/ready`);
    refused = await ask(server, {
      cookie: `${cookieName(server.baseUrl, 'tessera_session')}=${code}`,
      tracestate: `x=${code}`,
    });
    // The last span; and metrics from after it.
    await receiver.until(() => spanOf(receiver.spans(), refused) !== undefined);
    await receiver.until(() => answeredUserInfo(receiver) !== undefined);
  } finally {
    await running.stop();
    await ended;
  }

  const spans = receiver.spans();
  const seen = spans.find(
    ({ name, attributes }) => name === `GET ${USERINFO}` && attributes['http.response.status_code'] === 200,
  );
  assert.ok(seen, JSON.stringify(spans.map(({ name }) => name)));
  const { 'tessera.request.id': id, ...attributes } = seen.attributes;
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.deepEqual(attributes, {
    'http.request.method': 'GET',
    'http.route': USERINFO,
    'http.response.status_code': 200,
  });
  assert.deepEqual([seen.kind, seen.status, seen.parentSpanId, seen.links], [2, 0, '', []]);
  assert.equal(seen.resource['service.name'], 'tessera-test');
  assert.equal(seen.resource['service.version'], VERSION);
  assert.equal(seen.resource['deployment.environment.name'], 'test');
  const read = spans.find(({ parentSpanId }) => parentSpanId === seen.spanId);
  assert.equal(read?.name, 'read');
  assert.equal(read.traceId, seen.traceId);
  const system = database === undefined ? 'sqlite' : 'postgresql';
  assert.deepEqual(read.attributes, { 'db.system.name': system, 'db.operation.name': 'read' });

  // A form, whose body arrives before the work begins, is traced as well.
  const signIn = spans.find(({ name }) => name === 'POST /login');
  const work = spans.filter(({ parentSpanId }) => parentSpanId === signIn?.spanId).map(({ name }) => name);
  assert.ok(work.includes('check password') && work.includes('commit'), JSON.stringify(work));
  const refusal = spanOf(spans, refused);
  assert.equal(refusal?.attributes['tessera.refusal.code'], 'invalid_token');
  assert.equal(refusal.status, 0, 'a refusal is no error of the server');
  assert.ok(!spans.some(({ name }) => name.includes('/health/')));
  assert.ok(spans.some(({ name, attributes }) => name === 'GET' && attributes['http.response.status_code'] === 404));

  // What the log says of the same request.
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const line = lines.map((text) => JSON.parse(text)).find(({ reqId }) => reqId === refused);
  assert.equal(line?.trace_id, refusal.traceId);

  // The same figures as for Prometheus, under the same names.
  const metrics = receiver.metrics();
  const requests = metrics.find(({ name }) => name === 'tessera_http_request_duration_seconds');
  const answered = answeredUserInfo(receiver);
  assert.ok(requests?.type === 'histogram' && answered);
  assert.equal(Number(answered['count']), 1);
  const buckets = (answered['bucketCounts'] as unknown[]).map(Number);
  assert.equal(
    buckets.reduce((sum, count) => sum + count, 0),
    1,
  );
  assert.equal(buckets.length, (answered['explicitBounds'] as unknown[]).length + 1);
  assert.equal(metrics.find(({ name }) => name === 'tessera_refusals_total')?.type, 'sum');
  assert.equal(metrics.find(({ name }) => name === 'tessera_store_up')?.points[0]?.['asDouble'], 1);
  assert.ok(metrics.some(({ name, type }) => name === 'nodejs_eventloop_lag_p99_seconds' && type === 'gauge'));

  for (const { headers } of receiver.exports) {
    assert.deepEqual(
      [headers['x-key'], headers['x-tenant'], headers['content-type']],
      [key, 'a b', 'application/json'],
    );
  }
  const bytes = receiver.exports.map(({ body }) => body.toString()).join('\n');
  assert.deepEqual(canaries.foundIn(bytes), []);
  assert.deepEqual(canaries.foundIn(output + (await running.errors())), []);
  // Nor who asked, by what program, and for what URL.
  for (const text of ['undici', '127.0.0.1', 'nowhere', userId]) assert.ok(!bytes.includes(text), text);
});

test('protobuf is the default; strangers begin their own traces, linked to the one that they name', async () => {
  const receiver = await collector();
  const { OTEL_EXPORTER_OTLP_PROTOCOL: _json, ...defaults } = settings;
  const environment = { ...defaults, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_METRICS_EXPORTER: 'none' };
  const tessera = await start(readConfig(environment));
  await ask({ baseUrl: tessera.baseUrl } as TestServer, parent('01'));
  await receiver.until(() => receiver.exports.length > 0);
  await tessera.close();
  assert.deepEqual([...new Set(receiver.exports.map(({ path }) => path))], ['/v1/traces']);
  const bytes = Buffer.concat(receiver.exports.map(({ body }) => body));
  assert.equal(receiver.exports[0]?.headers['content-type'], 'application/x-protobuf');
  assert.ok(bytes.includes(`GET ${USERINFO}`));
  assert.ok(bytes.includes(Buffer.from(TRACE, 'hex')), 'the link');
});

test('traceparent: a link by default, which decides nothing; the parent where it is trusted', async () => {
  for (const trusted of [false, true]) {
    const receiver = await collector();
    const more = { TESSERA_TRUST_TRACEPARENT: trusted ? 'on' : 'off', OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
    const off = await observed(receiver, more);
    const forced = await ask(off.server, parent('01'));
    if (trusted) await receiver.until(() => spanOf(receiver.spans(), forced) !== undefined);
    await off.tessera.close();
    // Nobody but a trusted sender can have a request recorded.
    assert.equal(spanOf(receiver.spans(), forced) !== undefined, trusted);

    const on = await observed(receiver, { ...more, OTEL_TRACES_SAMPLER: 'parentbased_always_on' });
    const [sampled, unsampled] = [await ask(on.server, parent('01')), await ask(on.server, parent('00'))];
    const malformed = await ask(on.server, { traceparent: `00-${TRACE}-${SPAN}-1` });
    await receiver.until(() => spanOf(receiver.spans(), malformed) !== undefined);
    await on.tessera.close();
    const spans = receiver.spans();
    const span = spanOf(spans, sampled);
    assert.ok(span);
    if (trusted) assert.deepEqual([span.traceId, span.parentSpanId, span.links], [TRACE, SPAN, []]);
    else assert.deepEqual([span.parentSpanId, span.links], ['', [{ traceId: TRACE, spanId: SPAN }]]);
    assert.equal(span.traceId === TRACE, trusted);
    assert.equal(spanOf(spans, unsampled) === undefined, trusted, 'nor have it left out');
    assert.deepEqual(spanOf(spans, malformed)?.links, []);
  }
});

test('an outgoing request to the operator’s own network continues the trace', async () => {
  const receiver = await collector();
  const app = await startReceiver();
  try {
    const { tessera, server } = await observed(receiver);
    const client = await newClient(server, { idTokenSignedResponseAlg: 'EdDSA', backchannelLogoutUri: app.uri });
    const user = await newUser(server);
    await tokensFor(server, client, user);
    await admin(server, 'PUT', `/users/${user.id}/ban`, {});
    await tessera.deliverNotices();
    const calls = () => receiver.spans().filter(({ name, kind }) => name === 'POST' && kind === 3);
    await receiver.until(() => calls().length > 0);
    await tessera.close();
    const [received] = app.received;
    const [call] = calls();
    assert.ok(call && received);
    assert.equal(received.traceparent, `00-${call.traceId}-${call.spanId}-01`);
    assert.deepEqual(call.attributes, {
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(app.uri).port),
      'http.response.status_code': 200,
    });
  } finally {
    await app.close();
  }
});

test('a collector that refuses or is gone harms no request; it is logged once, counted, and noticed when it is back', async () => {
  const receiver = await collector();
  receiver.answer(500);
  const { tessera, server } = await observed(receiver, { TESSERA_METRICS_ADDRESS: '127.0.0.1:0' });
  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${tessera.metricsPort}/metrics`)).text();
  await ask(server, {});
  while (!/tessera_telemetry_spans_dropped_total\{reason="not accepted"\} [1-9]/.test(await scrape())) {
    // Metrics are sent all the time.
    const { length } = receiver.exports;
    await receiver.until(() => receiver.exports.length > length);
  }
  assert.match(await scrape(), /tessera_telemetry_exports_total\{signal="traces",outcome="failed"\} [1-9]/);
  receiver.answer(200);
  const again = await ask(server, {});
  await receiver.until(() => spanOf(receiver.spans(), again) !== undefined);
  await receiver.until(() => receiver.metrics().length > 20);
  await tessera.close();
});

test('a collector that never answers keeps no request and no shutdown waiting', async () => {
  const receiver = await collector();
  receiver.answer('hang');
  // Far longer than this test may take: only the bound of the shutdown itself lets it end.
  const { tessera, server } = await observed(receiver, { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' });
  for (let request = 0; request < 20; request++) await ask(server, {});
  await receiver.until(() => receiver.exports.some(({ path }) => path === '/v1/traces'));
  await tessera.close();
});
