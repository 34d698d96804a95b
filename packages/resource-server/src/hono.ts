import { isRefusal, type Requirement, type ResourceServer } from './resource-server.ts';
import { refusalResponse, serveMetadata } from './web.ts';

/** What is used of a context of Hono. */
interface HonoContext {
  readonly req: { readonly raw: Request };
  set(name: string, value: unknown): void;
}

type Next = () => Promise<void>;

/** Middleware that lets a request through that meets a requirement, with the variable `caller`. */
export const honoProtect =
  (server: ResourceServer, requirement: Requirement = {}) =>
  async (context: HonoContext, next: Next): Promise<Response | undefined> => {
    const result = await server.check(context.req.raw.headers.get('authorization'), requirement);
    if (isRefusal(result)) return refusalResponse(result);
    context.set('caller', result);
    await next();
    return undefined;
  };

/** Middleware that serves the metadata at both paths. */
export const honoMetadata =
  (server: ResourceServer) =>
  async (context: HonoContext, next: Next): Promise<Response | undefined> => {
    const response = serveMetadata(server, context.req.raw);
    if (response === undefined) await next();
    return response;
  };
