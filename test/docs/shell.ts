import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { png } from '../support/images.ts';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

// `npx tessera`, `npx node` and `npm run tessera --` are what npm would run in a clone.
const PRELUDE = `
set -eu
. ./variables
npx() {
  program=$1; shift
  case $program in
    node) node "$@";;
    tessera) node "$STAND_IN" tessera "$@";;
    *) echo "a clone has no $program" >&2; return 1;;
  esac
}
npm() {
  [ "$1 $2 $3" = 'run tessera --' ] || { echo "no page runs npm $1 $2" >&2; return 1; }
  shift 3
  npx tessera "$@"
}
curl() { node "$STAND_IN" curl "$@"; }
set -a
`;

/** A shell in a folder of its own, whose `data` is that of the server. Variables live on from one script to the next. */
export interface Shell {
  /** Runs a script to its end, and answers what it printed. */
  run(script: string): Promise<{ readonly out: string; readonly errors: string; readonly code: number | null }>;
  close(): Promise<void>;
}

export async function openShell(dataDir: string): Promise<Shell> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-docs-'));
  symlinkSync(dataDir, join(folder, 'data'));
  writeFileSync(join(folder, 'variables'), '');
  writeFileSync(join(folder, 'logo.png'), png(64, 64));
  const socket = join(folder, 'socket');
  const host = fork(here('program-host.ts'), [socket], { cwd: folder, execArgv: [] });
  await once(host, 'message');
  return {
    async run(script) {
      const child = spawn('sh', ['-c', `${PRELUDE}${script}\nset +a\nexport -p > variables`], {
        cwd: folder,
        env: {
          PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
          HOME: folder,
          DOCS_SOCKET: socket,
          STAND_IN: here('stand-in.js'),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
      await ended;
      return { out, errors, code: child.exitCode };
    },
    async close() {
      const gone = once(host, 'exit');
      host.disconnect();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
