import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Outlives the run, and then kills what the run left. */
export interface Guard {
  watch(group: number): void;
  release(group: number): void;
  /** Removes a folder after the run. Its path has no spaces. */
  remove(folder: string): void;
}

const PROGRAM = fileURLToPath(new URL('guard-process.ts', import.meta.url));

/**
 * Starts a process in a group of its own that holds one end of a pipe. However the run ends, SIGKILL included, the pipe
 * closes with it, and the guard kills every process group that was not released.
 */
export function startGuard(): Guard {
  const child = spawn(process.execPath, [PROGRAM], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  // The run must be able to end with the pipe still open.
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return {
    watch: (group) => void child.stdin.write(`watch ${group}\n`),
    release: (group) => void child.stdin.write(`release ${group}\n`),
    remove: (folder) => void child.stdin.write(`remove ${folder}\n`),
  };
}
