// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlwaysOffSampler, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OutgoingRequest } from '../http/outgoing.ts';
import type { MailMessage } from '../mail/transport.ts';
import { tracedBy } from './traced.ts';
import { createTracing } from './tracing.ts';

/** Tracing whose spans are kept here. */
function kept({ sampled = true } = {}) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  const provider = new TracerProvider({ spanProcessors, ...(!sampled && { sampler: new AlwaysOffSampler() }) });
  const tracing = createTracing(provider.getTracer('test'), false);
  const spans = () => exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, ...attributes }));
  const within = <T>(work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const request = { id: 'id', method: 'GET', route: '/x', traceparent: undefined };
      tracing.beginRequest(request)?.run(() => void work().then(resolve, reject));
    });
  return { tracing, traced: tracedBy(tracing, 'sqlite'), spans, within };
}

const request: OutgoingRequest = { method: 'GET', url: 'https://breaches.example/range/ABCDE?a=b', timeoutMs: 1 };

test('a request to a breach service tells its host, and not the part of the hash; background work begins a trace', async () => {
  const { traced, spans } = kept();
  const sent: OutgoingRequest[] = [];
  const send = traced.outgoing(async (outgoing) => {
    sent.push(outgoing);
    return { status: 404, headers: {}, body: Buffer.alloc(0) };
  });
  await send(request);
  assert.deepEqual(spans(), [
    {
      name: 'GET',
      'http.request.method': 'GET',
      'server.address': 'breaches.example',
      'server.port': 443,
      'http.response.status_code': 404,
    },
  ]);
  assert.match(sent[0]?.ownNetworkHeaders?.['traceparent'] ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  assert.equal(sent[0]?.headers, undefined, 'others do not learn of the trace');
});

test('mail tells its result, and no address', async () => {
  const { traced, spans } = kept();
  const transport = traced.mail({ send: async () => ({ kind: 'accepted', answer: '250 for ada@example.com' }) });
  await transport.send({ to: 'ada@example.com' } as MailMessage, new AbortController().signal);
  assert.deepEqual(spans(), [{ name: 'send mail', 'tessera.mail.result': 'accepted' }]);
});

test('an error is told by its name alone, and reaches the caller', async () => {
  const { traced, spans, within } = kept();
  const failure = new RangeError('canary: what a stranger sent');
  const passwords = traced.passwords({
    hash: () => Promise.reject(failure),
    check: async () => 'right',
    load: () => ({ running: 0, waiting: 0 }),
  });
  await assert.rejects(
    within(() => passwords.hash('canary password', [])),
    failure,
  );
  assert.deepEqual(spans(), [{ name: 'hash password', 'error.type': 'RangeError' }]);
});

test('what is not part of a sampled request is not recorded', async () => {
  const unsampled = kept({ sampled: false });
  const passwords = {
    hash: async () => 'hash',
    check: async () => 'right' as const,
    load: () => ({ running: 0, waiting: 0 }),
  };
  await unsampled.within(() => unsampled.traced.passwords(passwords).check('x', null, []));
  await unsampled.traced.outgoing(async () => ({ status: 200, headers: {}, body: Buffer.alloc(0) }))(request);
  assert.deepEqual(unsampled.spans(), []);
  // Steps of the background begin no trace, unless they call another service.
  const sampled = kept();
  await sampled.traced.passwords(passwords).check('x', null, []);
  assert.deepEqual(sampled.spans(), []);
  assert.equal(sampled.tracing.traceparent(), undefined);
});
