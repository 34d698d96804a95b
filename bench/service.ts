import manifest from '../package.json' with { type: 'json' };

const [, , ...words] = manifest.scripts.start.split(' ');

/** The arguments of `node` in `npm start`. */
export const SERVE: readonly string[] = words;
/** The options of the runtime among them. */
export const RUNTIME_FLAGS: readonly string[] = words.filter((word) => word.startsWith('--'));
