import { Agent, request } from 'node:http';

/** What all nodes are reached at, as behind a load balancer; the wire goes to each node's own port. */
/** Of this machine: the tests' own PostgreSQL server would lose what it acknowledged, which is refused for any other. */
export const BASE_URL = 'https://localhost';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** The way to one node, whose connections stay open. */
export interface Wire {
  send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<WireAnswer>;
  close(): void;
}

const { host } = new URL(BASE_URL);

export function openWire(port: number): Wire {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' });
  return {
    send: (method, path, headers, body) =>
      new Promise((resolve, reject) => {
        const options = { agent, host: '127.0.0.1', port, method, path, headers: { host, ...headers } };
        const sent = request(options, (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (part: string) => {
            text += part;
          });
          answer.on('error', reject);
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const postJson = (wire: Wire, path: string, body: unknown): Promise<WireAnswer> =>
  wire.send('POST', path, JSON_TYPE, JSON.stringify(body));

export const userInfo = (wire: Wire, path: string, token: string): Promise<WireAnswer> =>
  wire.send('GET', path, { authorization: `Bearer ${token}` });

export const admin = (wire: Wire, key: string, method: string, path: string, body?: unknown): Promise<WireAnswer> =>
  wire.send(
    method,
    `/api/v2/admin${path}`,
    { authorization: `Bearer ${key}`, ...(body !== undefined && JSON_TYPE) },
    body === undefined ? undefined : JSON.stringify(body),
  );
