/** The number of threads that the runtime starts by default, for files, names and keys. */
const DEFAULT_THREADS = 4;

/**
 * Adds threads for password hashing to the thread pool of the runtime, so that file access, name lookups and key operations do not wait
 * behind a crowd that signs in. Must be called before the runtime first uses the pool. A size that the operator set
 * (`UV_THREADPOOL_SIZE`) is kept.
 */
export function reserveHashingThreads(concurrency: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(DEFAULT_THREADS + concurrency);
}
