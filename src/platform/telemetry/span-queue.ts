import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { DroppedSpans } from '../http/meter.ts';

/** How many ended spans wait for the collector at most, about 1 KiB each; and how many one export sends. */
const MAX_WAITING = 2048;
const BATCH = 512;

/**
 * Sends ended spans in batches, one at a time. The processor of the SDK drops spans without telling how many, so its queue is
 * counted here, and never overflows.
 * @param delayMs how long spans wait for others
 */
export function createSpanQueue(
  exporter: SpanExporter,
  delayMs: number,
  dropped: (reason: DroppedSpans, spans: number) => void,
): SpanProcessor {
  let waiting = 0;
  const counted: SpanExporter = {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void) {
      waiting -= spans.length;
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) dropped('not accepted', spans.length);
        // The failure has been reported: the SDK would only hand it to its global error handler.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter: counted,
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: delayMs,
  });
  return {
    onStart: () => {},
    onEnd(span) {
      if (waiting >= MAX_WAITING) return dropped('queue full', 1);
      waiting++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}
