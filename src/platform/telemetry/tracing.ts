import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { BeginRequestSpan } from '../http/request-tracing.ts';
import { readTraceParent, writeTraceParent } from './rules/traceparent.ts';

/** A step of a trace. */
interface TracedStep {
  readonly name: string;
  /** Whether the step calls another service. */
  readonly kind: 'internal' | 'client';
  readonly attributes?: Attributes;
  /** Whether the step begins a trace where there is none, as background work does. */
  readonly mayBegin?: boolean;
}

/** Makes spans. What is not sampled costs a look at the current span. */
export interface Tracing {
  readonly beginRequest: BeginRequestSpan;
  /** Does some work as a step of the current trace; `describe` adds attributes of its result. */
  step<T>(step: TracedStep, work: () => Promise<T>, describe?: (result: T) => Attributes): Promise<T>;
  /** The `traceparent` of the current span; undefined outside of a trace. */
  traceparent(): string | undefined;
}

/** Load balancers ask for these several times a second. */
const isProbe = (route: string | undefined): boolean => route?.includes('/health/') ?? false;

/**
 * @param trustParent whether requests become part of the trace that their `traceparent` names, with its decision about sampling;
 *   otherwise they begin their own, which is linked to it
 */
export function createTracing(tracer: Tracer, trustParent: boolean): Tracing {
  // The spans of requests and of steps, unsampled ones included: what follows from these is not sampled either.
  const current = new AsyncLocalStorage<Span>();

  /** The context and the links of a request's span. */
  function origin(header: Parameters<typeof readTraceParent>[0]): { context: Context; links: Link[] } {
    const parent = readTraceParent(header);
    if (parent === undefined) return { context: ROOT_CONTEXT, links: [] };
    const { traceId, spanId, sampled } = parent;
    const remote: SpanContext = {
      traceId,
      spanId,
      traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    };
    return trustParent
      ? { context: trace.setSpanContext(ROOT_CONTEXT, remote), links: [] }
      : { context: ROOT_CONTEXT, links: [{ context: remote }] };
  }

  /** Does a step within a span of its own. */
  async function record<T>(
    { name, kind, attributes = {} }: TracedStep,
    parent: Span | undefined,
    work: () => Promise<T>,
    describe: ((result: T) => Attributes) | undefined,
  ): Promise<T> {
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = tracer.startSpan(name, { kind: spanKind, attributes }, context);
    try {
      const result = await current.run(span, work);
      if (describe !== undefined) span.setAttributes(describe(result));
      return result;
    } catch (error) {
      // Its name alone: a message may repeat what a stranger sent.
      span.setAttribute('error.type', error instanceof Error ? error.name : '_OTHER');
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    beginRequest({ id, method, route, traceparent }) {
      if (isProbe(route)) return undefined;
      const { context, links } = origin(traceparent);
      const span = tracer.startSpan(
        route === undefined ? method : `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          links,
          attributes: {
            'http.request.method': method,
            ...(route !== undefined && { 'http.route': route }),
            'tessera.request.id': id,
          },
        },
        context,
      );
      return {
        traceId: span.spanContext().traceId,
        run: (proceed) => current.run(span, proceed),
        end({ status, refusal }) {
          if (span.isRecording()) {
            span.setAttribute('http.response.status_code', status);
            if (refusal !== null) span.setAttribute('tessera.refusal.code', refusal.code);
            if (refusal?.reason !== undefined) span.setAttribute('tessera.refusal.reason', refusal.reason);
            // For a server, a refusal of what the client did is no error.
            if (status >= 500) {
              span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
            }
          }
          span.end();
        },
      };
    },

    step(step, work, describe) {
      const parent = current.getStore();
      if (parent === undefined ? step.mayBegin !== true : !parent.isRecording()) return work();
      return record(step, parent, work, describe);
    },

    traceparent() {
      const span = current.getStore()?.spanContext();
      if (span === undefined) return undefined;
      return writeTraceParent({ ...span, sampled: (span.traceFlags & TraceFlags.SAMPLED) !== 0 });
    },
  };
}
