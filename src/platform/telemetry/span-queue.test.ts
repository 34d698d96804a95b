// store: none
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { createSpanQueue } from './span-queue.ts';

/** A queue whose exporter answers when it is told to, or at the end, and how many spans were dropped for which reason. */
function queue(t: TestContext) {
  const dropped = { 'queue full': 0, 'not accepted': 0 };
  const pending: { readonly spans: number; readonly done: (result: ExportResult) => void }[] = [];
  let isOver = false;
  const exporter = {
    export(spans: readonly unknown[], done: (result: ExportResult) => void) {
      pending.push({ spans: spans.length, done });
      if (isOver) done({ code: ExportResultCode.SUCCESS });
    },
    shutdown: async () => {},
  };
  // Otherwise the SDK would wait for half a minute.
  t.after(async () => {
    isOver = true;
    for (const { done } of pending) done({ code: ExportResultCode.SUCCESS });
    await processor.shutdown();
  });
  const processor = createSpanQueue(exporter, 60_000, (reason, spans) => {
    dropped[reason] += spans;
  });
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('test');
  const end = (count: number) => {
    for (let n = 0; n < count; n++) tracer.startSpan('x').end();
  };
  return { dropped, pending, end };
}

test('while a collector does not answer, a bounded number of spans waits; the others are dropped and counted', async (t) => {
  const { dropped, pending, end } = queue(t);
  end(512);
  assert.deepEqual([pending.length, pending[0]?.spans], [1, 512], 'a full batch is sent at once');
  end(2048);
  assert.equal(dropped['queue full'], 0);
  end(100);
  assert.deepEqual([pending.length, dropped], [1, { 'queue full': 100, 'not accepted': 0 }]);
  // Once it answers, the next batch goes, and there is room again.
  pending[0]?.done({ code: ExportResultCode.SUCCESS });
  while (pending.length < 2) await new Promise((resolve) => setImmediate(resolve));
  end(512);
  assert.equal(dropped['queue full'], 100);
  end(1);
  assert.equal(dropped['queue full'], 101);
});

test('spans that a collector does not accept are counted, and the next are sent', async (t) => {
  const { dropped, pending, end } = queue(t);
  end(513);
  pending[0]?.done({ code: ExportResultCode.FAILED, error: new Error('500') });
  assert.deepEqual(dropped, { 'queue full': 0, 'not accepted': 512 });
  end(511);
  while (pending.length < 2) {
    await new Promise((resolve) => setImmediate(resolve));
    end(1);
  }
  assert.equal(pending[1]?.spans, 512);
});
