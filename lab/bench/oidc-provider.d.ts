/** What the benchmark uses of it: the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Model {
    save(ttl?: number): Promise<string>;
  }
  type ModelClass = new (fields: Readonly<Record<string, unknown>>) => Model;

  interface Context {
    readonly path: string;
    body: unknown;
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly AccessToken: ModelClass;
    readonly RefreshToken: ModelClass;
    readonly Grant: ModelClass;
    readonly Session: ModelClass;
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
