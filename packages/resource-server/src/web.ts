import {
  bodyOf,
  type Caller,
  isRefusal,
  METADATA_HEADERS,
  type Refusal,
  type Requirement,
  type ResourceServer,
} from './resource-server.ts';

/** A refusal as a response. */
export const refusalResponse = (refusal: Refusal): Response =>
  Response.json(bodyOf(refusal), { status: refusal.status, headers: refusal.headers });

/** Wraps a handler of a web request, which gets the caller. */
export const protect =
  <Rest extends readonly unknown[]>(
    server: ResourceServer,
    requirement: Requirement,
    handler: (request: Request, caller: Caller, ...rest: Rest) => Response | Promise<Response>,
  ) =>
  async (request: Request, ...rest: Rest): Promise<Response> => {
    const result = await server.check(request.headers.get('authorization'), requirement);
    return isRefusal(result) ? refusalResponse(result) : handler(request, result, ...rest);
  };

/** The metadata, where a web request asks for it; undefined for any other request. */
export function serveMetadata(server: ResourceServer, request: Request): Response | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || !server.metadataPaths.includes(new URL(request.url).pathname)) return undefined;
  return new Response(JSON.stringify(server.metadata), { headers: METADATA_HEADERS });
}
