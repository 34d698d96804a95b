import { Agent, request } from 'node:http';
import type { JsonAnswer } from '../support/flow.ts';

export type WireAnswer = Pick<JsonAnswer, 'status' | 'body'>;

/** A caller of the API that costs little: a run asks after each of its steps about all that it ever got. */
export interface Wire {
  get(path: string, token: string): Promise<WireAnswer>;
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<WireAnswer>;
  close(): void;
}

/** @param nodeOf where the next request goes */
export function openWire(nodeOf: () => string): Wire {
  const agent = new Agent({ keepAlive: true });
  const call = (method: string, path: string, headers: Record<string, string>, body: string | undefined) =>
    new Promise<WireAnswer>((resolve, reject) => {
      const sent = request(new URL(path, nodeOf()), { agent, method, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    get: (path, token) => call('GET', path, { authorization: `Bearer ${token}` }, undefined),
    post: (path, body) => call('POST', path, { 'content-type': 'application/json' }, JSON.stringify(body)),
    close: () => agent.destroy(),
  };
}
