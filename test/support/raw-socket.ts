import { connect } from 'node:net';
import type { TestServer } from './server.ts';

/** What came back over a connection: each answer with its status line, headers and body. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends these very octets over a connection of their own and reads until the server has closed it. */
function rawText({ baseUrl }: Pick<TestServer, 'baseUrl'>, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: string[] = [];
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) });
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => chunks.push(String(chunk)));
    // A server that cuts the connection while octets are still under way resets it: what it said before counts.
    socket.on('error', (error: Error & { code?: string }) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(chunks.join('')));
    socket.write(request, 'latin1');
  });
}

/** The answers in a stream, told apart by Content-Length. */
function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN);
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers.get('content-length') ?? 0);
    answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = end < 0 ? '' : rest.slice(end + 4 + length);
  }
  return answers;
}

export const raw = async (server: Pick<TestServer, 'baseUrl'>, request: string): Promise<RawAnswer[]> =>
  answersIn(await rawText(server, request));
