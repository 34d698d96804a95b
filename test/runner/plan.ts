import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Batch } from './run-files.ts';

export const ROOT = join(import.meta.dirname, '../..');

export type Store = 'SQLite' | 'PostgreSQL';

interface Plan {
  readonly files: readonly string[];
  /** Left out unless everything is asked for. */
  readonly spared: readonly string[];
  readonly settings: string;
}

/** Measurements, and what takes long. */
const LONG = 'test/**/*.long.test.ts';

const PLANS: Readonly<Record<Store, Plan>> = {
  SQLite: {
    files: [
      'src/**/*.test.ts',
      'test/*.test.ts',
      'test/!(postgres|cluster)/**/*.test.ts',
      'test/cluster/checker.test.ts',
    ],
    spared: [LONG],
    settings: 'test/support/test.env',
  },
  PostgreSQL: {
    files: [
      'test/{contract,conformance,races,model,security,postgres}/**/*.test.ts',
      'test/cluster/!(checker).test.ts',
      'test/operator/!(cli-events).test.ts',
      'test/matrix/taken-back.test.ts',
      'test/store/{audit,mail,mail-queue,security-notices}.test.ts',
      'test/releases/*.test.ts',
    ],
    // What these are about is decided before a store is asked, or after it has answered; of a store they need what the flows
    // of the other files need too.
    spared: [
      LONG,
      'test/contract/authorize-{errors,explained,form-post,methods,post,redirect-uri,state}.test.ts',
      'test/contract/{cross-origin,discovery,error-answers,headers,http-paths,http-raw,pictures}.test.ts',
      'test/contract/jwt-{claims,confusion,forgery,form,libraries,types}.test.ts',
      'test/contract/{sign-in-forms,stock-clients,token-bodies,token-errors,token-limits}.test.ts',
      'test/contract/{userinfo-bearer,userinfo-signed}.test.ts',
      'test/contract/authorize-{age,claims,hints,prompt,target}.test.ts',
      'test/contract/{address-limits,client-keys,consent-claimable,id-token-keys,playground,profile-page}.test.ts',
      'test/contract/{public-clients,sign-in-answers,sign-in-passwords,slow-bodies}.test.ts',
      'test/conformance/{basic-form-post,basic-query,config,logout-back-channel,logout-rp-initiated}.test.ts',
      'test/contract/{addresses,client-assertions,consent-{faces,forms,narrowed},contact,enrollment-in-flow,faces}.test.ts',
      'test/contract/{authorize-size,id-token-algorithm,mistakes,recovery-rules,resource-indicators}.test.ts',
      'test/contract/{second-factor-policy,session-bound,sign-up-modes,states-verdict,step-up}.test.ts',
      'test/contract/{account-connections,passkeys,recovery-lockout,token-client-credentials}.test.ts',
      'test/contract/{security-notices,sign-in-code,sign-up-mail,token-introspection,token-storage,traces}.test.ts',
      'test/races/{account-forms,consent-faces,playground}.test.ts',
      'test/operator/{admin-clients,admin-lists,admin-users,bundle,doctor,mailbox,processes,start,telemetry}.test.ts',
      // Some hundred starts of the command; every order of five events, of which the model has a sample.
      'test/operator/{cli,cli-confirm,key-client,keys,observing,pictures,playground,public-client}.test.ts',
      'test/contract/{jwt-keys,sign-in-limits,states-time,token-secrets,userinfo-scopes}.test.ts',
      'test/security/{barred,echo,faults,flood,forms-of-others,hostile,logging,same-second,secrets}.test.ts',
    ],
    settings: 'test/support/postgres.env',
  },
};

/**
 * How many files of a folder one process runs; the others' files go by the eight. What takes longest begins first: at the end
 * of the run, no processor waits for one file.
 */
const SIZES: Readonly<Record<string, number>> = {
  ...{ browser: 1, faults: 1, cluster: 1, matrix: 1, model: 1, docs: 3, races: 6, operator: 3 },
};
const FIRST = Object.keys(SIZES);
const OTHERS = 8;

const folderOf = (path: string): string => /^test\/([^/]+)\//.exec(path)?.[1] ?? 'src';

function turn(path: string): number {
  const at = FIRST.indexOf(folderOf(path));
  return at === -1 ? FIRST.length : at;
}

const found = (patterns: readonly string[]): string[] => globSync(patterns, { cwd: ROOT }).sort();

export interface Wanted {
  readonly stores: readonly Store[];
  /** Patterns of the files that are wanted: all without any. A file that is named is never spared. */
  readonly patterns: readonly string[];
  readonly all: boolean;
}

/** The files of tests to run, in their order. */
export function planned({ stores, patterns, all }: Wanted): Batch[] {
  const wanted = patterns.length === 0 ? undefined : new Set(found(patterns));
  const batches = stores.flatMap((store) => {
    const { files, spared } = PLANS[store];
    const left = new Set(all || wanted !== undefined ? [] : found(spared));
    const env = environment(store, all);
    const paths = found(files).filter((path) => !left.has(path) && (wanted?.has(path) ?? true));
    const folders = Object.values(Object.groupBy(paths, folderOf)).filter((folder) => folder !== undefined);
    return folders.flatMap(chunked).map((paths) => ({
      turn: turn(paths[0] ?? ''),
      files: paths.map((path) => ({ path, label: `${path} on ${store}` })),
      env,
    }));
  });
  return batches.sort((one, other) => one.turn - other.turn);
}

/** The files of one folder, in as many parts as there are processes for them. */
function chunked(paths: readonly string[]): string[][] {
  const size = SIZES[folderOf(paths[0] ?? '')] ?? OTHERS;
  return Array.from({ length: Math.ceil(paths.length / size) }, (_, n) => paths.slice(n * size, (n + 1) * size));
}

/** As `node --env-file` would have it: what is set already goes before what the file says. */
function environment(store: Store, all: boolean): NodeJS.ProcessEnv {
  const settings = parseEnv(readFileSync(join(ROOT, PLANS[store].settings), 'utf8'));
  const { TESSERA_TEST_POSTGRES, TESSERA_TEST_TEMPLATE, TESSERA_TEST_DATABASE: _, ...rest } = process.env;
  const server = store === 'PostgreSQL' ? { TESSERA_TEST_POSTGRES, TESSERA_TEST_TEMPLATE } : {};
  return { ...settings, ...rest, ...server, ...(all && { TESSERA_TEST_WHOLE: 'yes' }) };
}
