import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The pages whose code is run as it is printed. */
export const PAGES = ['docs/how-to/connect-an-app.md', 'docs/how-to/other-clients.md'] as const;

/** The page with the settings by which apps go by groups. */
export const GROUPS_PAGE = 'docs/how-to/connect-with-groups.md';

/** A code block that says what runs it: `<!-- run: npm run interop, <client> -->`, or `interop:groups`, in the line above. */
const BLOCK =
  /^<!-- run: npm run interop(?::groups)?, (?<client>[^>]+?) -->\n```(?<language>\w+)\n(?<text>.*?)^```$/gms;

interface RunBlock {
  readonly client: string;
  readonly language: string;
  readonly text: string;
}

function runBlocks(page: string): readonly RunBlock[] {
  const markdown = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
  return [...markdown.matchAll(BLOCK)].map(({ groups = {} }) => {
    const { client = '', language = '', text = '' } = groups;
    return { client, language, text };
  });
}

/** The clients whose code or configuration is printed. */
export const printedClients = (): readonly string[] => PAGES.flatMap(runBlocks).map(({ client }) => client);

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
  const block = PAGES.flatMap(runBlocks).find((one) => one.client === client);
  if (block === undefined) throw new Error(`no block of ${PAGES.join(' or ')} says that ${client} runs it`);
  return withValues(block.text, own);
}

/** The same of the page about groups, which prints a client's settings in several languages. */
export function printedForGroups(client: string, language: string, own: OwnValues): string {
  const block = runBlocks(GROUPS_PAGE).find((one) => one.client === client && one.language === language);
  if (block === undefined) throw new Error(`no ${language} of ${GROUPS_PAGE} says that ${client} runs it`);
  return withValues(block.text, own);
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
