import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';

/** A primary and its standby. */
export interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  stop(): Promise<void>;
}

/** @param settings of the primary alone */
export async function startPair(settings: readonly string[] = []): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-pair-'));
  const copy = join(folder, 'copy');
  const primary = await startPostgres({ settings, prepare: (data) => cpSync(data, copy, { recursive: true }) });
  const host = new URL(primary.url).searchParams.get('host') ?? '';
  const standby = await startPostgres({
    from: copy,
    prepare(data) {
      appendFileSync(join(data, 'postgresql.conf'), `\nprimary_conninfo = 'host=${host} user=tessera'\n`);
      writeFileSync(join(data, 'standby.signal'), '');
    },
  });
  rmSync(folder, { recursive: true, force: true });
  return {
    primary,
    standby,
    async stop() {
      await standby.stop();
      await primary.stop();
    },
  };
}
