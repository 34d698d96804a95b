import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

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

/** In milliseconds; the nodes wait twice as long. */
const LONGEST_IDLE = 30_000;

/** @param process the one of those that share the port that every connection is to lead to; any, where none is given */
export function openWire(port: number, process?: number): Wire {
  // A connection that nobody uses is closed before the node closes it, which could be in the moment of the next request.
  const options = { keepAlive: true, scheduling: 'lifo', timeout: LONGEST_IDLE } as const;
  const agent = process === undefined ? new Agent(options) : new AgentOfProcess(options, process);
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

/** Opens connections until one leads to the process. */
class AgentOfProcess extends Agent {
  readonly #process: number;
  constructor(options: ConstructorParameters<typeof Agent>[0], process: number) {
    super(options);
    this.#process = process;
  }

  override createConnection(...[options, made]: Parameters<Agent['createConnection']>): undefined {
    const find = async () => {
      for (;;) {
        const { socket, process } = await openConnection(Number(options.port));
        if (process === this.#process) return socket;
        socket.destroy();
      }
    };
    find().then(
      (socket) => made?.(null, socket),
      (error) => made?.(error, new Duplex()),
    );
  }
}

/** Waits until the service takes connections and answers. */
export async function untilAnswered(port: number): Promise<void> {
  for (;;) {
    try {
      (await openConnection(port)).socket.destroy();
      return;
    } catch {
      await pause(20);
    }
  }
}

/** Opens a connection, and asks which process it leads to. */
async function openConnection(port: number): Promise<{ readonly socket: Socket; readonly process: number }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  // A process that is ending may have taken the connection and hang up without an answer.
  const hungUp = () => void socket.destroy(new Error('it hung up'));
  socket.once('end', hungUp);
  let answer = '';
  while (!answer.endsWith('}')) answer += String((await once(socket, 'data'))[0]);
  socket.off('end', hungUp);
  return { socket, process: Number(/^x-process: (\d+)/im.exec(answer)?.[1]) };
}

/** The processes that share a port: asks until so many have answered. */
export async function processesOn(port: number, count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const { socket, process } = await openConnection(port);
    socket.destroy();
    found.add(process);
  }
  return [...found];
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
