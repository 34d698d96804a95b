import { openHttpListener } from '../../src/platform/http/listener.ts';

/** A free port: the base URL of the tokens names it before the server listens there. */
export async function freePort(): Promise<number> {
  const probe = await openHttpListener('127.0.0.1', 0);
  await probe.close();
  return probe.port;
}
