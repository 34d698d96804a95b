import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request, where it is traced. */
    span: RequestSpan | undefined;
  }
}

/** What a span tells about the beginning of a request: no URL, no address, no header but `traceparent`. */
export interface BegunRequest {
  readonly id: string;
  readonly method: string;
  /** The pattern of the route; undefined for an unknown URL. */
  readonly route: string | undefined;
  readonly traceparent: string | readonly string[] | undefined;
}

/** What a span tells about the end of a request. */
export interface EndedRequest {
  readonly status: number;
  readonly refusal: { readonly code: string; readonly reason?: string | undefined } | null;
}

/** The span of one request. */
export interface RequestSpan {
  readonly traceId: string;
  /** Continues the request, so that what it does becomes part of the trace. */
  run(proceed: () => void): void;
  end(request: EndedRequest): void;
}

/** Begins the span of a request; undefined for requests that are not traced. */
export type BeginRequestSpan = (request: BegunRequest) => RequestSpan | undefined;

/** What a log line names a request by. */
export const requestIds = ({ id, span }: FastifyRequest) => ({ reqId: id, trace_id: span?.traceId });

/** Makes a span of each request. Without it, requests pass no hook for it. */
export function traceRequests(app: FastifyInstance, begin: BeginRequestSpan): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { id, method, headers, routeOptions } = request;
    const span = begin({ id, method, route: routeOptions.url, traceparent: headers['traceparent'] });
    request.span = span;
    if (span === undefined) done();
    else span.run(done);
  });
  // A body arrives in events of the connection, which are outside of the trace.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.span === undefined) done();
    else request.span.run(done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.span?.end({ status: reply.statusCode, refusal: request.refusal });
    done();
  });
}
