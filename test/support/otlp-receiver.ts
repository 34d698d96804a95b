import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An export that a collector got. */
interface Exported {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Value = string | number | boolean;

/** A span, as a test reads it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly kind: number;
  readonly status: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly resource: Readonly<Record<string, Value>>;
}

/** A metric, as a test reads it: its type, and its points by their labels. */
export interface ReceivedMetric {
  readonly name: string;
  readonly type: 'sum' | 'gauge' | 'histogram';
  readonly points: readonly (Readonly<Record<string, unknown>> & {
    readonly labels: Readonly<Record<string, Value>>;
  })[];
}

/** An OpenTelemetry collector for OTLP over HTTP, on a free port. */
export interface OtlpReceiver {
  readonly endpoint: string;
  readonly exports: readonly Exported[];
  /** How all following exports are answered, until this is called again; `hang`: never. */
  answer(status: number | 'hang'): void;
  /** Settles once something is true of what has come. */
  until(isThere: () => boolean): Promise<void>;
  /** The spans that came as JSON. */
  spans(): ReceivedSpan[];
  /** The metrics of the last export of metrics that came as JSON. */
  metrics(): ReceivedMetric[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const exports: Exported[] = [];
  const hanging = new Set<ServerResponse>();
  let status: number | 'hang' = 200;
  let arrived = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    exports.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
    if (status === 'hang') hanging.add(response);
    else response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bodies = (path: string): unknown[] =>
    exports.filter((one) => one.path === path).map(({ body }) => JSON.parse(body.toString()));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports,
    answer(next) {
      status = next;
    },
    async until(isThere) {
      while (!isThere()) await arrived.promise;
    },
    spans: () => bodies('/v1/traces').flatMap(spansOf),
    metrics: () => bodies('/v1/metrics').slice(-1).flatMap(metricsOf),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const field = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>> | undefined)?.[name];
const list = (value: unknown, name: string): readonly unknown[] => (field(value, name) ?? []) as readonly unknown[];
const text = (value: unknown, name: string): string => String(field(value, name) ?? '');

function attributesOf(value: unknown): Record<string, Value> {
  return Object.fromEntries(
    list(value, 'attributes').map((attribute) => {
      const [[type, held] = []] = Object.entries(field(attribute, 'value') ?? {}) as [string, Value][];
      return [text(attribute, 'key'), type === 'intValue' ? Number(held) : (held ?? '')];
    }),
  );
}

const spansOf = (body: unknown): ReceivedSpan[] =>
  list(body, 'resourceSpans').flatMap((ours) =>
    list(ours, 'scopeSpans').flatMap((scope) =>
      list(scope, 'spans').map((span) => ({
        name: text(span, 'name'),
        traceId: text(span, 'traceId'),
        spanId: text(span, 'spanId'),
        parentSpanId: text(span, 'parentSpanId'),
        kind: Number(field(span, 'kind')),
        status: Number(field(field(span, 'status'), 'code') ?? 0),
        attributes: attributesOf(span),
        links: list(span, 'links').map((link) => ({ traceId: text(link, 'traceId'), spanId: text(link, 'spanId') })),
        resource: attributesOf(field(ours, 'resource')),
      })),
    ),
  );

const metricsOf = (body: unknown): ReceivedMetric[] =>
  list(body, 'resourceMetrics').flatMap((ours) =>
    list(ours, 'scopeMetrics').flatMap((scope) =>
      list(scope, 'metrics').map((metric) => {
        const type = (['sum', 'gauge', 'histogram'] as const).find((kind) => field(metric, kind) !== undefined);
        if (type === undefined) throw new Error(`of no known type: ${JSON.stringify(metric)}`);
        const points = list(field(metric, type), 'dataPoints');
        return {
          name: text(metric, 'name'),
          type,
          points: points.map((point) => ({ ...(point as object), labels: attributesOf(point) })),
        };
      }),
    ),
  );
