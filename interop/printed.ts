import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The pages whose code is run as it is printed. */
export const PAGES = ['docs/how-to/connect-an-app.md', 'docs/how-to/other-clients.md'] as const;

/** A code block that says which client runs it: `<!-- run: npm run interop, <client> -->` in the line above. */
const BLOCK = /^<!-- run: npm run interop, (?<client>[^>]+?) -->\n```\w+\n(?<text>.*?)^```$/gms;

const read = (page: string): string => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');

/** The clients whose code or configuration is printed. */
export const printedClients = (): readonly string[] =>
  PAGES.flatMap((page) => [...read(page).matchAll(BLOCK)].map(({ groups }) => groups?.['client'] ?? ''));

/** What stands for the reader's own values in the printed blocks. */
export interface OwnValues {
  readonly issuer: string;
  readonly origin: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The application behind a proxy. */
  readonly upstream?: string;
}

/** The block of a client, with a reader's own values in it and without any other change. */
export function printed(client: string, own: OwnValues): string {
  for (const page of PAGES) {
    for (const { groups = {} } of read(page).matchAll(BLOCK)) {
      if (groups['client'] === client) return withValues(groups['text'] ?? '', own);
    }
  }
  throw new Error(`no block of ${PAGES.join(' or ')} says that ${client} runs it`);
}

const withValues = (text: string, { issuer, origin, clientId, clientSecret, upstream }: OwnValues): string =>
  text
    .replaceAll('https://id.example.com', issuer)
    .replaceAll('https://app.example.com', origin)
    .replaceAll('http://127.0.0.1:8080/', upstream ?? 'http://127.0.0.1:8080/')
    .replaceAll('the-client-id', clientId)
    .replaceAll('the-client-secret', clientSecret)
    // As the page says: openssl rand -base64 32 | tr -- '+/' '-_'
    .replaceAll('the-cookie-secret', () => `${randomBytes(32).toString('base64url')}=`)
    .replaceAll('a-random-value', () => randomBytes(32).toString('hex'));
