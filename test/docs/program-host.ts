/*
 * Runs the commands of the documentation's shell blocks, one after the other in one process: starting Node for each would
 * take longer than all of them. It listens on the socket that it is given; `stand-in.js` sends it what the shell was told.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { program } from '../../src/cli/program.ts';
import { curl, type Order, type Outcome } from './curl.ts';

async function tessera({ args, input, environment }: Order): Promise<Outcome> {
  const before = { ...process.env };
  const { write } = process.stdout;
  const writeError = process.stderr.write;
  let out = '';
  let errors = '';
  process.stdout.write = (chunk: string | Uint8Array) => {
    out += String(chunk);
    return true;
  };
  process.stderr.write = (chunk: string | Uint8Array) => {
    errors += String(chunk);
    return true;
  };
  Object.assign(process.env, environment);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  try {
    await program().parseAsync(args, { from: 'user' });
    return { out, errors, code: Number(process.exitCode ?? 0) };
  } catch (error) {
    return { out, errors: `${errors}${String(error)}\n`, code: 1 };
  } finally {
    process.exitCode = 0;
    process.env = before;
    process.stdout.write = write;
    process.stderr.write = writeError;
  }
}

const server = createServer({ allowHalfOpen: true }, async (socket) => {
  let sent = '';
  // By its events: a loop over the socket would close both of its directions.
  socket.on('data', (chunk) => {
    sent += String(chunk);
  });
  await once(socket, 'end');
  const order = JSON.parse(sent) as Order;
  const outcome = await (order.program === 'curl' ? curl(order) : tessera(order));
  socket.end(JSON.stringify(outcome));
});
server.listen(process.argv[2], () => process.send?.('ready'));
process.on('disconnect', () => process.exit());
