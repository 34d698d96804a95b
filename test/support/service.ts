import assert from 'node:assert/strict';
import { startSeveral } from '../operator/several.ts';
import type { TestServer } from './server.ts';

/**
 * The command itself, with so many processes that share its port, in the place of a server in the process of the tests. Its clock is the
 * machine's, and its background work happens when it happens.
 */
export async function startService(
  environment: Readonly<Record<string, string>>,
  dataDir: string,
  processes: string,
  removeData: () => Promise<void>,
): Promise<TestServer> {
  const { baseUrl, answering, kill, ended } = await startSeveral(environment, { args: ['--processes', processes] });
  await answering(Number(processes));
  const impossible = (): never =>
    assert.fail('this test needs a server in its own process: leave TESSERA_TEST_PROCESSES out');
  return {
    ...{ baseUrl, nodes: [baseUrl], dataDir, environment, now: Date.now },
    ...{ advance: impossible, setBack: impossible, restart: impossible },
    ...{ deliverNotices: impossible, sendRequestedMail: impossible, makeExports: impossible, runBulkActs: impossible },
    async close() {
      kill();
      await ended;
      await removeData();
    },
  };
}
