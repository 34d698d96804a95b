import { run } from './run.ts';

// The reader of a pipe may stop early: `tessera user list | head`.
process.stdout.on('error', (error: Error & { code?: string }) => {
  if (error.code !== 'EPIPE') throw error;
});

await run(process.argv.slice(2));
