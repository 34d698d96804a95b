// Joins the sources and the packages that every start loads in a few files: a start spends most of its time on loading a thousand. npm
// runs this in a clone after it has installed the packages. Plain JavaScript, for any Node.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { currentBundle, FOLDER, RECORD, ROOT, stateOf } from './bundle.js';

const ENTRY = 'src/cli/main.ts';
const isSource = (file) => file.endsWith('.ts') && !file.endsWith('.test.ts');
/** npm writes it whenever it changes the installed packages. */
const INSTALLED = 'node_modules/.package-lock.json';
const RECIPE = 'bin/make-bundle.js';

/** Beside the folder that it replaces, so that what it says of other files holds there, too. */
const NEW = `${FOLDER}-${process.pid}`;
const OLD = `${NEW}-replaced`;

/** Packages with native code, and those that a start does not load, stay as they are. */
const EXTERNAL = [
  '@napi-rs/image',
  '@node-rs/argon2',
  '@opentelemetry/core',
  '@opentelemetry/otlp-*',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-*',
  '@simplewebauthn/server',
  '@zxcvbn-ts/language-common',
  'nodemailer/*',
  'otpauth',
  'pg-native',
  'uqr',
];

/** A source finds the files beside it where they are, not beside the bundle. */
const sourcesStay = {
  name: 'sources stay',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const place = `new URL(${JSON.stringify(relative(FOLDER, path))}, import.meta.url).href`;
      return { loader: 'ts', contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place) };
    });
  },
};

/** Fastify loads HTTP/2 with itself, which takes 5 ms of a start, and uses it only in a server that speaks it. Ours does not. */
const withoutHttp2 = {
  name: 'without HTTP/2',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
      importer.startsWith(join(ROOT, 'node_modules/fastify/')) ? { path: 'http2', namespace: 'empty' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: '' }));
  },
};

async function makeBundle() {
  const { build } = await import('esbuild');
  // Before they are read: what changes meanwhile differs from it.
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).filter(isSource);
  const madeOf = [INSTALLED, RECIPE, ...sources.map((file) => `src/${file}`)].map((file) => [file, stateOf(file)]);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    outdir: NEW,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    external: EXTERNAL,
    // Packages that are CommonJS load the modules of the runtime with it.
    banner: { js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);" },
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    plugins: [sourcesStay, withoutHttp2],
  });
  // Last: without it, what was written so far is not used.
  writeFileSync(join(NEW, basename(RECORD)), JSON.stringify(Object.fromEntries(madeOf)));
  // A server may be running or starting from the one so far.
  if (existsSync(FOLDER)) renameSync(FOLDER, OLD);
  renameSync(NEW, FOLDER);
}

// An image installs the packages before it has the sources. `npx tessera` in a clone runs this again for each person who uses it.
if (existsSync(join(ROOT, ENTRY)) && currentBundle() === undefined) {
  try {
    await makeBundle();
  } catch (error) {
    console.error(`Tessera will start from its sources, which takes longer: ${error.message}`);
  } finally {
    for (const folder of [NEW, OLD]) rmSync(folder, { recursive: true, force: true });
  }
}
