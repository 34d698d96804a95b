/** What the runtime has for files, names and keys where nobody says anything. */
const RUNTIME = 4;

/**
 * Hashing works on the runtime's own threads, and takes each for some milliseconds. It gets as many as it may use beside those
 * that everything else has: so it is as fast as was asked for, and nothing waits behind a crowd that signs in. The runtime looks
 * once, when it first needs a thread; what an operator chose (`UV_THREADPOOL_SIZE`) stays.
 */
export function reserveHashingThreads(concurrency: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(RUNTIME + concurrency);
}
