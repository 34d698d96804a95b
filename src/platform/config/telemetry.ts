import { isLoopback } from './loopback.ts';
import { type Reading, Variable } from './variable.ts';

/** How a trace without a parent is sampled. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Where traces and metrics are sent to, by OTLP. */
export interface TelemetrySettings {
  /** The base URL of the collector, without a trailing slash. */
  readonly endpoint: string;
  /** Headers of every export. Confidential: they usually contain a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** How long one export may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly traces: TraceSettings | undefined;
  readonly metrics: { readonly intervalMs: number } | undefined;
}

export interface TraceSettings {
  readonly sampler: (typeof SAMPLERS)[number];
  /** The share of traces that are recorded, from 0 to 1, for the samplers by ratio. */
  readonly ratio: number;
  /** How long ended spans wait for others before they are sent, in milliseconds. */
  readonly delayMs: number;
  /** Whether a `traceparent` header makes a request part of its sender's trace. */
  readonly trustParent: boolean;
}

function endpoint(value: string): Reading<string> {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.search ||
    url.hash ||
    url.username ||
    url.password
  ) {
    return {
      problem: 'must be the http or https URL of a collector, without query, for example http://localhost:4318',
    };
  }
  return { value: url.href.replace(/\/+$/, '') };
}

/** `<name>=<value>` separated by commas, with percent-encoded values: the form of W3C Baggage without properties. */
function pairs(isName: RegExp, problem: string): (value: string) => Reading<Readonly<Record<string, string>>> {
  return (value) => {
    const found: Record<string, string> = {};
    for (const pair of value.split(',')) {
      const [, name = '', encoded = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
      const text = decoded(encoded);
      if (!isName.test(name) || text === undefined) return { problem };
      found[name] = text;
    }
    return { value: found };
  };
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text);
    // A header cannot contain others.
    return /^[\x20-\x7e]*$/.test(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}

const oneOf =
  <T extends string>(known: readonly T[]) =>
  (value: string): Reading<T> => {
    const found = known.find((name) => name === value);
    return found === undefined ? { problem: `must be one of ${known.join(', ')}` } : { value: found };
  };

function milliseconds(least: number, most: number) {
  return (value: string): Reading<number> => {
    const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (count >= least && count <= most) return { value: count };
    return { problem: `must be a whole number of milliseconds from ${least} to ${most}` };
  };
}

function ratio(value: string): Reading<number> {
  const share = /^(0|1|[01]?\.\d{1,9}|1\.0)$/.test(value) ? Number(value) : Number.NaN;
  return share >= 0 && share <= 1 ? { value: share } : { problem: 'must be a number from 0 to 1, such as 0.01' };
}

function serviceName(value: string): Reading<string> {
  return /^[\x21-\x7e]{1,100}$/.test(value) ? { value } : { problem: 'must be up to 100 characters without spaces' };
}

/** The variables of telemetry, in the order of the reference page: the standard ones of OpenTelemetry, as far as they are read. */
export const telemetryVariables = {
  otlpEndpoint: new Variable('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint, {
    initial: 'none',
    about:
      'The URL of an OpenTelemetry collector, to which traces and metrics are sent by OTLP over HTTP, such as `http://localhost:4318`. Without it, nothing is traced or sent, and no code for it is loaded. Of the variables of OpenTelemetry, Tessera reads those on this page.',
  }),
  otlpHeaders: new Variable(
    'OTEL_EXPORTER_OTLP_HEADERS',
    pairs(
      /^[\w!#$%&'*+.^`|~-]{1,100}$/,
      'must be <name>=<value>, separated by commas, with %2C for a comma in a value',
    ),
    {
      initial: 'none',
      about:
        'Headers of each export, such as `authorization=Bearer%20…`. They are a secret, and require an `https` endpoint or one on a loopback host.',
    },
  ),
  otlpProtocol: new Variable('OTEL_EXPORTER_OTLP_PROTOCOL', oneOf(['http/protobuf', 'http/json'] as const), {
    initial: '`http/protobuf`',
    about: '`http/protobuf` or `http/json`. OTLP over gRPC is not supported: use the collector’s port for HTTP.',
  }),
  otlpTimeout: new Variable('OTEL_EXPORTER_OTLP_TIMEOUT', milliseconds(1, 600_000), {
    initial: '`10000`',
    about: 'How long one export may take, in milliseconds. No request waits for it.',
  }),
  serviceName: new Variable('OTEL_SERVICE_NAME', serviceName, {
    initial: '`tessera`',
    about: 'The `service.name` of traces and metrics.',
  }),
  resourceAttributes: new Variable(
    'OTEL_RESOURCE_ATTRIBUTES',
    pairs(
      /^[\w.-]{1,100}$/,
      'must be <name>=<value>, separated by commas, such as deployment.environment.name=staging',
    ),
    {
      initial: 'none',
      about: 'Further attributes of traces and metrics, such as `deployment.environment.name=staging`.',
    },
  ),
  tracesExporter: new Variable('OTEL_TRACES_EXPORTER', oneOf(['otlp', 'none'] as const), {
    initial: '`otlp`',
    about: '`none` sends no traces to the endpoint.',
  }),
  metricsExporter: new Variable('OTEL_METRICS_EXPORTER', oneOf(['otlp', 'none'] as const), {
    initial: '`otlp`',
    about: '`none` sends no metrics to the endpoint. They are those of `TESSERA_METRICS_ADDRESS`.',
  }),
  metricInterval: new Variable('OTEL_METRIC_EXPORT_INTERVAL', milliseconds(100, 86_400_000), {
    initial: '`60000`',
    about: 'How often metrics are sent, in milliseconds.',
  }),
  tracesSampler: new Variable('OTEL_TRACES_SAMPLER', oneOf(SAMPLERS), {
    initial: '`parentbased_always_on`',
    about: `Which traces are recorded: ${SAMPLERS.map((name) => `\`${name}\``).join(', ')}. Those that begin with \`parentbased\` follow the sender’s decision, where \`TESSERA_TRUST_TRACEPARENT\` is \`on\`.`,
  }),
  tracesSamplerArg: new Variable('OTEL_TRACES_SAMPLER_ARG', ratio, {
    initial: '`1`',
    about: 'The share of traces that the samplers by ratio record, such as `0.01`.',
  }),
  spanDelay: new Variable('OTEL_BSP_SCHEDULE_DELAY', milliseconds(1, 60_000), {
    initial: '`5000`',
    about:
      'How long spans wait for others before they are sent together, in milliseconds. A full batch is sent at once.',
  }),
  trustTraceparent: new Variable('TESSERA_TRUST_TRACEPARENT', oneOf(['on', 'off'] as const), {
    initial: '`off`',
    about:
      'Whether a `traceparent` header makes a request part of its sender’s trace. Set it to `on` only behind a proxy that replaces the header of strangers: otherwise anyone could have their requests recorded. With `off` a request begins its own trace, with a link to the sender’s.',
  }),
} as const;

/** Reads the settings of telemetry; undefined where it is off. */
export function readTelemetrySettings(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): TelemetrySettings | undefined {
  const read = <T>(variable: Variable<T>): T | undefined => variable.read(environment, problems);
  const to = read(telemetryVariables.otlpEndpoint);
  const headers = read(telemetryVariables.otlpHeaders) ?? {};
  const settings = {
    headers,
    protocol: read(telemetryVariables.otlpProtocol) ?? 'http/protobuf',
    timeoutMs: read(telemetryVariables.otlpTimeout) ?? 10_000,
    serviceName: read(telemetryVariables.serviceName) ?? 'tessera',
    resource: read(telemetryVariables.resourceAttributes) ?? {},
  } as const;
  const traces: TraceSettings = {
    sampler: read(telemetryVariables.tracesSampler) ?? 'parentbased_always_on',
    ratio: read(telemetryVariables.tracesSamplerArg) ?? 1,
    delayMs: read(telemetryVariables.spanDelay) ?? 5000,
    trustParent: read(telemetryVariables.trustTraceparent) === 'on',
  };
  const metrics = { intervalMs: read(telemetryVariables.metricInterval) ?? 60_000 };
  const sendsTraces = read(telemetryVariables.tracesExporter) !== 'none';
  const sendsMetrics = read(telemetryVariables.metricsExporter) !== 'none';
  if (to === undefined || !(sendsTraces || sendsMetrics)) return undefined;
  const { protocol, hostname } = new URL(to);
  if (Object.keys(headers).length > 0 && protocol === 'http:' && !isLoopback(hostname)) {
    problems.push(
      `${telemetryVariables.otlpHeaders.name} must not be sent without encryption: use https in ` +
        `${telemetryVariables.otlpEndpoint.name}, or a collector on this machine.`,
    );
  }
  return {
    endpoint: to,
    ...settings,
    traces: sendsTraces ? traces : undefined,
    metrics: sendsMetrics ? metrics : undefined,
  };
}
