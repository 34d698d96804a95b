import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { seconds } from './kill-postgres.ts';
import { untilBack } from './probes.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

const LIMITS = [64, 128];
/** How many callers come while there is no descriptor left. */
const CALLERS = 50;
/** How long they wait, in milliseconds. */
const PATIENCE = 10_000;

/** More sockets than the node may have descriptors, under load: it answers or refuses, and recovers when they go. */
export async function descriptors(options: Options, server?: PostgresServer): Promise<Outcome> {
  return trial({ fault: 'no file descriptor left', ...(server && { server }) }, options, async (one) => {
    const { service, ledger, random, over } = one;
    const { front, settings } = service;
    let node = await startNode({ settings });
    front.targets = [node.port];
    return {
      async faults() {
        const told = { answered: 0, refused: 0, waiting: 0 };
        let back = 0;
        for (let time = 1; time <= options.times; time++) {
          const limit = LIMITS[time % LIMITS.length] as number;
          await node.stop();
          node = await startNode({ settings, wrapper: ['prlimit', `--nofile=${limit}:${limit}`] });
          front.targets = [node.port];
          await ledger.more(5 + random(10));
          const sockets = Array.from({ length: 3 * limit }, () => idle(node.port));
          try {
            await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
            for (let n = 0; n < CALLERS; n++) told[await caller(one, node.port)]++;
          } finally {
            for (const socket of sockets) socket.destroy();
          }
          back = Math.max(back, await untilBack(service));
          if (node.process.exitCode !== null) ledger.violated('the node', 'ended for want of descriptors');
          await ledger.more(5);
          await over();
          options.progress(time);
        }
        return [
          `limits of ${LIMITS.join(' and ')}; of ${CALLERS * options.times} callers meanwhile ${told.answered} were answered, ` +
            `${told.refused} refused, ${told.waiting} waited`,
          `answers again at most ${seconds(back)} after the sockets went`,
        ];
      },
      end: () => node.stop(),
    };
  });
}

function idle(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  return socket.resume();
}

/** A caller with a new connection. */
async function caller({ ledger }: Trial, port: number): Promise<'answered' | 'refused' | 'waiting'> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/oauth/userinfo`, {
      headers: { authorization: 'Bearer unknown', connection: 'close' },
      signal: AbortSignal.timeout(PATIENCE),
    });
    await answer.text();
    if (answer.status !== 401 && answer.status !== 503)
      ledger.violated('an unknown token', `expected 401 or 503, got ${answer.status}`);
    return 'answered';
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'waiting' : 'refused';
  }
}
