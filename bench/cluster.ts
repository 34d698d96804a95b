import cluster from 'node:cluster';
import { RUNTIME_FLAGS } from './service.ts';

/** Several processes of the service behind one port: this one takes the connections and hands them out in turn, whole. */
const processes = Number(process.argv[2] ?? 2);
cluster.setupPrimary({ exec: 'bin/tessera.js', args: ['serve'], execArgv: [...RUNTIME_FLAGS] });
for (let index = 0; index < processes; index++) cluster.fork();
const end = () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
};
process.on('SIGTERM', end);
cluster.on('exit', () => Object.keys(cluster.workers ?? {}).length === 0 && process.exit(0));
