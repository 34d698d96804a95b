// Loaded before a command: kills it with SIGKILL right before one of its changes to the names of files below KILL_IN. With KILL_AT=0 it
// only lists them, one a line, on standard error.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { KILL_AT, KILL_IN } = process.env;
let count = 0;
for (const name of ['linkSync', 'mkdirSync', 'renameSync', 'rmSync']) {
  const real = fs[name];
  fs[name] = (path, ...more) => {
    if (String(path).startsWith(KILL_IN)) {
      count++;
      if (KILL_AT === '0') process.stderr.write(`change ${name} ${path}\n`);
      if (count === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
    }
    return real(path, ...more);
  };
}
syncBuiltinESMExports();
