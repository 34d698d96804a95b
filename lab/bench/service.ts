import manifest from '../../package.json' with { type: 'json' };

const [, , ...words] = manifest.scripts.start.split(' ');

/** The arguments of `node` in `npm start`. */
export const SERVE: readonly string[] = words;

/** The same from the sources, where `npm start` may run a bundle: the profile tells their files apart. */
export const SERVE_SOURCES: readonly string[] = SERVE.map((word) =>
  word.startsWith('bin/') ? 'src/cli/main.ts' : word,
);
