import manifest from '../package.json' with { type: 'json' };

const [, , ...words] = manifest.scripts.start.split(' ');

/** The service as `npm start` runs it: what follows `exec node`. */
export const SERVE: readonly string[] = words;
/** What the runtime is told there. */
export const RUNTIME_FLAGS: readonly string[] = words.filter((word) => word.startsWith('--'));
