import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import {
  type IExporterMetricsHelper,
  type ISerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { TelemetrySettings } from '../config/telemetry.ts';
import { masked } from '../masking.ts';

/** What is sent to the collector. */
export type Signal = 'traces' | 'metrics';

/** How an export ended: `cause` says why it failed, for operators. */
export type ReportExport = (signal: Signal, cause: string | undefined) => void;

interface Exporters {
  readonly spans: SpanExporter;
  readonly metrics: PushMetricExporter;
  /** Drops what is under way, so that a collector that does not answer keeps nothing open. */
  abandon(): void;
}

type ConnectionSettings = Pick<TelemetrySettings, 'endpoint' | 'headers' | 'protocol' | 'timeoutMs'>;

/**
 * Exporters for OTLP over HTTP. They get all settings: the ready-made ones of the packages read the environment as well. Few exports
 * are under way at a time, and each is retried for as long as one export may take.
 */
export function createExporters(
  { endpoint, headers, protocol, timeoutMs }: ConnectionSettings,
  report: ReportExport,
): Exporters {
  const agent = new (endpoint.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const isJson = protocol === 'http/json';
  let abandoned = false;
  const delegate = <T, R>(signal: Signal, serializer: ISerializer<T, R>, helper: IExporterMetricsHelper<T>) => {
    const options = {
      url: `${endpoint}/v1/${signal}`,
      agentFactory: () => agent,
      compression: 'none' as const,
      concurrencyLimit: 4,
      timeoutMillis: timeoutMs,
      // A new object each time: the exporter adds to it.
      async headers() {
        if (abandoned) throw new Error('the service is stopping');
        return { ...headers, 'content-type': isJson ? 'application/json' : 'application/x-protobuf' };
      },
    };
    const sent = createOtlpHttpExportDelegate<T, R>(options, serializer, `otlp ${protocol}`, helper, undefined);
    return {
      export(data: T, done: (result: ExportResult) => void) {
        sent.export(data, (result) => {
          report(signal, result.code === ExportResultCode.SUCCESS ? undefined : causeOf(result.error));
          done(result);
        });
      },
      forceFlush: () => sent.forceFlush(),
      shutdown: () => sent.shutdown(),
    };
  };
  return {
    spans: delegate<ReadableSpan[], unknown>(
      'traces',
      isJson ? JsonTraceSerializer : ProtobufTraceSerializer,
      TraceExporterMetricsHelper,
    ),
    metrics: delegate<ResourceMetrics, unknown>(
      'metrics',
      isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer,
      MetricsExporterMetricsHelper,
    ),
    abandon() {
      abandoned = true;
      agent.destroy();
    },
  };
}

/** The status and the reason phrase of an answer, or the error of the connection. */
function causeOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  if (error === undefined) return 'no answer';
  const { code, message } = error;
  const status = typeof code === 'number' || typeof code === 'string' ? `${code} ` : '';
  return masked(message.startsWith(status.trim()) ? message : status + message);
}
