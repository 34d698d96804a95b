import {
  bodyOf,
  type Caller,
  isRefusal,
  METADATA_HEADERS,
  type Requirement,
  type ResourceServer,
} from './resource-server.ts';

/** What is used of a request of Express. */
interface ExpressRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly authorization?: string | undefined };
  caller?: Caller;
}

interface ExpressResponse {
  status(code: number): ExpressResponse;
  set(headers: Readonly<Record<string, string>>): ExpressResponse;
  json(body: unknown): unknown;
}

type Next = (error?: unknown) => void;

/** Middleware that lets a request through that meets a requirement, with `req.caller`. */
export const expressProtect =
  (server: ResourceServer, requirement: Requirement = {}) =>
  (request: ExpressRequest, response: ExpressResponse, next: Next): void => {
    server.check(request.headers.authorization, requirement).then((result) => {
      if (isRefusal(result)) {
        response.status(result.status).set(result.headers).json(bodyOf(result));
        return;
      }
      request.caller = result;
      next();
    }, next);
  };

/** Middleware that serves the metadata at both paths. Use it before others. */
export const expressMetadata =
  (server: ResourceServer) =>
  ({ method, path }: ExpressRequest, response: ExpressResponse, next: Next): void => {
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead || !server.metadataPaths.includes(path)) next();
    else response.status(200).set(METADATA_HEADERS).json(server.metadata);
  };
