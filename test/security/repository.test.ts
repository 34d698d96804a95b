// store: none
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { digest } from '../../src/platform/crypto/secrets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The tracked files; of a copy without its history, all but what .gitignore names. */
function files(): string[] {
  try {
    const text = execFileSync('git', ['ls-files', '-z'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\0').filter((name) => name !== '');
  } catch {
    const ignored = readFileSync(join(root, '.gitignore'), 'utf8')
      .split('\n')
      .map((line) => line.replaceAll('/', ''));
    const walk = (folder: string): string[] =>
      readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        if (ignored.includes(entry.name) || entry.name === '.git') return [];
        const path = join(folder, entry.name);
        return entry.isDirectory() ? walk(path) : [relative(root, path)];
      });
    return walk(root);
  }
}

const SHAPES: Readonly<Record<string, RegExp>> = {
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  'a JWT': /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}/,
  'an admin key': /\btak_[A-Za-z0-9_-]{43}\b/,
  'an access key of a cloud or a forge':
    /\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[baprs]-[A-Za-z0-9-]{10,})\b/,
  'a password in an address': /[a-z][a-z0-9+]*:\/\/[^\s:/@"'`<>$]+:(?!p@|password@|secret@)[^\s:/@"'`<>$]{6,}@/,
};

/** Bits of information for each character, as the text itself shows them. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, n) => sum - (n / text.length) * Math.log2(n / text.length), 0);
}

/** How a PNG file begins in base64: a picture in an example of the API. */
const PNG = 'iVBORw0KGgo';

/** Words of 32 or more characters that look drawn at random. */
const randomWords = (text: string): string[] =>
  (text.match(/[A-Za-z0-9_-]{32,}/g) ?? []).filter(
    (word) =>
      !word.startsWith(PNG) && /[a-z]/.test(word) && /[A-Z]/.test(word) && /[0-9]/.test(word) && entropy(word) > 4,
  );

const found = (text: string): string[] => [
  ...Object.entries(SHAPES).flatMap(([name, shape]) => (shape.test(text) ? [name] : [])),
  ...randomWords(text),
];

/** What looks like a secret and is none. */
const KNOWN: ReadonlySet<string> = new Set([
  // RFC 7636, appendix B: the verifier of the example, and its challenge.
  'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  // RFC 7517, appendix A.1, and RFC 8037, appendix A.2: public keys of examples.
  'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  // RFC 8037, appendix A.1: the private key of the same example.
  'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  // The alphabet of base64url.
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  // That of base64 without its last two.
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  // Made up to be repeated, for what judges secrets.
  'q3Vb0Xk2Yt7Lr9Wn5Zs1Cd8Fg4Hj6Pm0uRw7EiKxNo3T',
  // Made up to be given to servers that are to refuse them, or that end with the test.
  'q3Vb0Xk2Yt7Lr9Wn5Zs1Cd8Fg4Hj6Pm0Aa2Bb4Cc6Dd8E',
  'Zm9yZWlnbi1zZWNyZXQtb2YtYW5vdGhlci1kYXRhYmFzZS0x',
  // Names of classes of Spring Security.
  'DefaultOAuth2AuthorizedClientManager',
  'OAuth2AuthorizedClientRepository',
]);

test('ST-03: the search finds what it is for', () => {
  for (let n = 0; n < 200; n++) assert.equal(found(`const secret = '${digest(String(n))}';`).length, 1);
  const samples = ['-----BEGIN EC PRIVATE KEY-----', `tak_${'a'.repeat(43)}`, 'postgres://tessera:hunter22@db/x'];
  for (const text of samples) assert.equal(found(text).length, 1, text);
  assert.deepEqual(found('postgres://tessera@db/x and https://example.com/api/v2/oauth/authorize?code=1'), []);
});

test('ST-03: no tracked file holds a key or a secret', () => {
  const names = files();
  assert.ok(names.includes('src/app.ts'));
  const hits: string[] = [];
  for (const name of names) {
    // Of the certificate for localhost that signed itself, for tests alone.
    if (/\.(png|ico|woff2?)$/.test(name) || name === 'test/support/certificate.ts') continue;
    let text: string;
    try {
      text = readFileSync(join(root, name), 'utf8');
    } catch {
      // Deleted, and not yet recorded as such.
      continue;
    }
    if (name.endsWith('package-lock.json')) text = text.replaceAll(/"integrity": "[^"]+"/g, '');
    // The digest of the API document that it was made from.
    if (name === 'types/admin-api.d.ts') text = text.replace(/the API document [\w-]{43}\./, '');
    if (name.endsWith('/go.sum')) text = text.replaceAll(/ h1:\S+$/gm, '');
    if (name === 'test/security/repository.test.ts') text = text.slice(0, text.indexOf('const SHAPES'));
    for (const hit of found(text)) if (!KNOWN.has(hit)) hits.push(`${name}: ${hit}`);
  }
  assert.deepEqual(hits, []);
});

test('ST-03: no tracked file is a place for secrets or data', () => {
  const kept = /(^|\/)(\.env(\..*)?|secret|id_[a-z0-9]+|.*\.(pem|key|p12|pfx|db|db-wal|sqlite3?|jks))$/;
  assert.ok(
    kept.test('data/secret') &&
      kept.test('.env.local') &&
      kept.test('x/tessera.db') &&
      !kept.test('src/platform/crypto/secrets.ts'),
  );
  assert.deepEqual(
    files().filter((name) => kept.test(name)),
    [],
  );
});
