import assert from 'node:assert/strict';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { insertPasskey } from '../../src/authenticators/passkey-store.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { type Agent, type Answer, formOf } from './agent.ts';
import { withData } from './forged-token.ts';
import type { TestServer } from './server.ts';
import { type Forgery, type SoftAuthenticator, softAuthenticator } from './soft-authenticator.ts';

/** Gives a person a passkey, as if they had added it an hour ago, in an earlier session. */
export const newPasskey = (server: TestServer, accountId: string): Promise<SoftAuthenticator> =>
  withData(server, ({ database }) => newPasskeyAt(baseUrlOf(server), database, accountId, server.now() - 3_600_000));

/** The base URL, which is the address of the first node, and so the origin of every passkey. */
const baseUrlOf = ({ nodes, baseUrl }: TestServer): string => nodes[0] ?? baseUrl;

/** The same in a database that is open, as of an instant. */
export async function newPasskeyAt(
  baseUrl: string,
  database: Database,
  accountId: string,
  createdAt: number,
): Promise<SoftAuthenticator> {
  const authenticator = softAuthenticator(baseUrl, userHandleOf(accountId));
  const passkey = {
    id: authenticator.id,
    accountId,
    publicKey: authenticator.publicKey,
    counter: 0,
    transports: ['internal'],
    name: 'Test passkey',
    aaguid: '00000000-0000-0000-0000-000000000000',
    backupEligible: false,
    backedUp: false,
    createdAt,
    lastUsedAt: null,
  };
  assert.ok(await database.commit(() => insertPasskey(passkey)));
  return authenticator;
}

/** What a page's script asks for. */
export async function passkeyOptions(browser: Agent, address: string): Promise<{ readonly challenge: string }> {
  const answer = await browser.get(address, { accept: 'application/json' });
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text);
}

/** Signs in as the script of the sign-in page does. */
export async function usePasskey(
  browser: Agent,
  authenticator: SoftAuthenticator,
  forged: Forgery = {},
  page?: Answer,
): Promise<Answer> {
  const { hidden } = formOf((page ?? (await browser.get('/login'))).text, '/login/passkey');
  const { request } = hidden;
  const query = request === undefined ? '' : `?request=${request}`;
  const passkey = authenticator.use(await passkeyOptions(browser, `/login/passkey${query}`), forged);
  return browser.post('/login/passkey', { ...hidden, passkey });
}

/** Undoes a change of address by its link and a passkey, as the script of the page does. */
export async function undoByPasskey(
  browser: Agent,
  link: string,
  authenticator: SoftAuthenticator,
  forged: Forgery = {},
): Promise<number> {
  const page = await browser.get(link);
  if (page.status !== 200 || !page.text.includes('data-passkey="get"')) return page.status;
  const { searchParams } = new URL(link);
  const options = await passkeyOptions(browser, `/undo-address-change/passkey?${searchParams.toString()}`);
  const { hidden } = formOf(page.text, '/undo-address-change');
  return (await browser.post('/undo-address-change', { ...hidden, passkey: authenticator.use(options, forged) }))
    .status;
}

const FORM = '/account/security/passkeys';

/** Sends a form of the passkeys on the Security page. */
export async function passkeyForm(
  browser: Agent,
  fields: Readonly<Record<string, string>>,
  status = 200,
): Promise<Answer> {
  const { hidden } = formOf((await browser.get('/account/security')).text, FORM);
  const answer = await browser.post(FORM, { ...hidden, ...fields });
  assert.equal(answer.status, status, answer.text);
  return answer;
}

/** Adds a passkey as the script of the Security page does. */
export async function addPasskeyOnPage(
  server: TestServer,
  browser: Agent,
  accountId: string,
  forged: Forgery = {},
  status = 200,
): Promise<SoftAuthenticator> {
  const authenticator = softAuthenticator(baseUrlOf(server), userHandleOf(accountId));
  const passkey = authenticator.create(await passkeyOptions(browser, `${FORM}/new`), forged);
  await passkeyForm(browser, { action: 'add', passkey }, status);
  return authenticator;
}
