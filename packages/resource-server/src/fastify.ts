import {
  bodyOf,
  type Caller,
  isRefusal,
  METADATA_HEADERS,
  type Requirement,
  type ResourceServer,
} from './resource-server.ts';

/** What is used of a request of Fastify. */
interface FastifyRequest {
  readonly headers: { readonly authorization?: string | undefined };
}

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(headers: Readonly<Record<string, string>>): FastifyReply;
  send(body: unknown): unknown;
}

/** What is used of an instance of Fastify. */
interface FastifyApp {
  route(options: { method: 'GET'; url: string; handler: (request: unknown, reply: FastifyReply) => unknown }): unknown;
}

const callers = new WeakMap<object, Caller>();

/** A `preHandler` that lets a request through that meets a requirement. */
export function fastifyProtect(server: ResourceServer, requirement: Requirement = {}) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const result = await server.check(request.headers.authorization, requirement);
    if (isRefusal(result)) return reply.code(result.status).headers(result.headers).send(bodyOf(result));
    callers.set(request, result);
    return undefined;
  };
}

/** The caller of a request that {@link fastifyProtect} let through. */
export function fastifyCaller(request: object): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('the route has no preHandler of fastifyProtect');
  return caller;
}

/** Serves the metadata at both paths. */
export function fastifyMetadata(server: ResourceServer, app: FastifyApp): void {
  const body = JSON.stringify(server.metadata);
  for (const url of server.metadataPaths) {
    app.route({ method: 'GET', url, handler: (_request, reply) => reply.headers(METADATA_HEADERS).send(body) });
  }
}
