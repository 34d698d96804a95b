import cluster from 'node:cluster';
import { RUNTIME_FLAGS } from './service.ts';

/** Several server processes on one port: the primary accepts connections and distributes them round-robin. */
const processes = Number(process.argv[2] ?? 2);
cluster.setupPrimary({ exec: 'bin/tessera.js', args: ['serve'], execArgv: [...RUNTIME_FLAGS] });
for (let index = 0; index < processes; index++) cluster.fork();
const end = () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
};
process.on('SIGTERM', end);
cluster.on('exit', () => Object.keys(cluster.workers ?? {}).length === 0 && process.exit(0));
