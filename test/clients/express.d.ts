declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface ExpressApp {
    (request: IncomingMessage, response: ServerResponse): void;
    use(middleware: unknown): void;
    get(path: string, ...handlers: unknown[]): void;
  }

  export default function express(): ExpressApp;
}
