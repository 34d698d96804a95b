import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newClient, type TestClient } from './flow.ts';
import { query } from './outcome.ts';
import type { TestServer } from './server.ts';

export type Publish = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on which apps publish their metadata documents, which counts who comes. */
export interface Publisher {
  readonly origin: string;
  /** How often each path was asked for. */
  readonly visits: ReadonlyMap<string, number>;
  /** Publishes a document at a path. @returns its URL */
  publish(path: string, answer: Publish): string;
  /** Publishes the document of an honest public app, with changes. */
  app(
    path: string,
    change?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): MetadataApp;
  /** Open connections now. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** An app whose `client_id` is the URL of its metadata document. */
export type MetadataApp = TestClient & { readonly endpointSet: 'oidc' };

export const REDIRECT_URI = 'https://app.example.com/callback';

export async function startPublisher(): Promise<Publisher> {
  const answers = new Map<string, Publish>();
  const visits = new Map<string, number>();
  const http = createServer((request, response) => {
    const path = request.url ?? '';
    visits.set(path, (visits.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const publish = (path: string, answer: Publish): string => {
    answers.set(path, answer);
    return origin + path;
  };
  return {
    origin,
    visits,
    publish,
    app(path, change = {}, headers = {}) {
      const url = publish(path, (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(documentOf(origin + path, change))),
      );
      return { clientId: url, clientSecret: '', redirectUri: REDIRECT_URI, endpointSet: 'oidc' };
    },
    connections: () =>
      new Promise((resolve, reject) =>
        http.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    close() {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };
}

/** A metadata document of an honest public app. */
export const documentOf = (url: string, change: Readonly<Record<string, unknown>> = {}) => ({
  client_id: url,
  client_name: 'An agent',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  ...change,
});

/** An app that is on record as one that no operator registered, as after a person's consent. */
export async function newUnregisteredClient(server: TestServer): Promise<string> {
  const { clientId } = await newClient(server, { type: 'public' });
  const url = `https://app.example/${randomBytes(6).toString('hex')}.json`;
  await query(
    server,
    "UPDATE client SET registered_by = 'metadata', metadata_url = ?, metadata_host = 'app.example', metadata_expires_at = 0 WHERE id = ?",
    url,
    clientId,
  );
  return clientId;
}
