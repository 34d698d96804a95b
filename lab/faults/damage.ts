import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { acceptLoss, issue } from './accept-loss.ts';
import type { Damage, Files } from './damages.ts';
import { checkRefusal } from './refusal.ts';
import { type Node, startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

/** How long a node that started has to take changes again, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Files damaged after `kill -9` under load. Either the start is refused in words that name a remedy, and goes on as if
 * nothing had been once the files are restored; or nothing acknowledged is lost and nothing revoked is accepted.
 */
export async function damage({ name, harm }: Damage, options: Options): Promise<Outcome> {
  return trial({ fault: name, secretFile: true }, options, async (one) => {
    const { service, ledger, folder, random, over } = one;
    const { front, settings } = service;
    let node: Node = await startNode({ settings });
    front.targets = [node.port];
    let [refused, accepted] = [0, 0];
    return {
      async faults() {
        for (let time = 1; time <= options.times; time++) {
          await ledger.more(10 + random(20));
          const earlier = join(mkdtempSync(join(tmpdir(), 'tessera-earlier-')), 'tessera.db');
          backUp(join(folder, 'tessera.db'), earlier);
          const issued = await issue(one);
          await ledger.more(10 + random(20));
          await node.kill();
          front.targets = [];
          const files = filesIn(folder, earlier);
          const whole = `${folder}-whole`;
          cpSync(folder, whole, { recursive: true });
          try {
            await harm(files, random);
            node = await startNode({ settings }).catch(async (error: unknown) => {
              refused++;
              if (checkRefusal(ledger, error).includes('tessera recover')) {
                accepted++;
                await acceptLoss(one, issued);
              }
              restore(folder, whole);
              return startNode({ settings });
            });
          } finally {
            rmSync(whole, { recursive: true, force: true });
            rmSync(join(earlier, '..'), { recursive: true, force: true });
          }
          front.targets = [node.port];
          await goOn(one, over);
          options.progress(time);
        }
        const started = options.times - refused;
        return [
          `${refused} starts refused with a remedy, ${accepted} losses accepted; ${started} started with nothing lost`,
        ];
      },
      end: () => node.stop(),
    };
  });
}

const filesIn = (folder: string, earlier: string): Files => ({
  ...{ folder, earlier, database: join(folder, 'tessera.db'), secret: join(folder, 'secret') },
  ...{ wal: join(folder, 'tessera.db-wal'), shm: join(folder, 'tessera.db-shm') },
});

function restore(folder: string, whole: string): void {
  rmSync(folder, { recursive: true });
  cpSync(whole, folder, { recursive: true });
}

/** Copies the database, and empties its journal. */
function backUp(path: string, copy: string): void {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.prepare('VACUUM INTO ?').run(copy);
  // As the node does each minute: from now on the file holds something, and the journal what comes after.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** The usual checks, given up where the node does not take changes any more. */
async function goOn({ service, ledger }: Trial, over: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => {
    ledger.violated('the service', 'expected a refused start or a service that takes changes, got neither');
    service.giveUp();
  }, PATIENCE);
  try {
    await over();
    if (!service.givenUp) await ledger.more(10, PATIENCE);
    // After a loss everything else that is asked would be found missing, too.
    if (ledger.violations.length > 0) service.giveUp();
    assert.ok(!service.givenUp, 'the trial ends here');
  } finally {
    clearTimeout(timer);
  }
}
