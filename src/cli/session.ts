import { readConfig } from '../config/config.ts';
import { type Core, openCore } from '../core.ts';
import type { Origin } from '../events/audit.ts';

/** Every act of the command line is recorded as its own. */
export const CLI_ORIGIN: Origin = { actor: { type: 'cli', id: null }, address: null, requestId: null };

/** The flags that stand for environment variables, as the parser gives them. */
export interface GlobalFlags {
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  readonly json?: boolean;
}

/** The environment with the flags of the command line laid over it. */
export function environment(flags: GlobalFlags & { host?: string; port?: string; baseUrl?: string }) {
  return {
    ...process.env,
    ...(flags.dataDir !== undefined && { TESSERA_DATA_DIR: flags.dataDir }),
    ...(flags.databaseUrl !== undefined && { TESSERA_DATABASE_URL: flags.databaseUrl }),
    ...(flags.host !== undefined && { TESSERA_HOST: flags.host }),
    ...(flags.port !== undefined && { TESSERA_PORT: flags.port }),
    ...(flags.baseUrl !== undefined && { TESSERA_BASE_URL: flags.baseUrl }),
  };
}

/** Opens the data, works on it, and lets go of it: also while a server runs on it. */
export async function withCore<T>(flags: GlobalFlags, work: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(readConfig(environment(flags)), Date.now);
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}

/** Reads all of standard input without the line end: how a secret is given without showing it to the process list. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
