import assert from 'node:assert/strict';
import { agent } from '../support/agent.ts';
import { admin, newUser, signedIn, type TestUser } from '../support/flow.ts';
import { allMails } from '../support/mail.ts';
import { askRecovery, newestMail } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode } from '../support/second-factor.ts';
import type { TestServer } from '../support/server.ts';

/** The secret that a link carries. */
const secretOf = (link: string | undefined): string => /[\w-]{43}/.exec(link ?? '')?.[0] ?? '';

/**
 * Gives people a second factor and everything that is sent or handed out to get into an account.
 * @param server one with a mailbox
 * @returns each secret that could be presented, by what it is; and paths that a secret from a link would open
 */
export async function secretsOfPeople(server: TestServer): Promise<{
  readonly secrets: Readonly<Record<string, string>>;
  readonly paths: readonly ((secret: string) => string)[];
}> {
  const user = await newUser(server, { emailVerified: true });
  const email = await addressOf(server, user);
  const factor = await enroll(server, user);
  const { browser, page } = await atSecondStep(server, user);
  const code = totpCode(factor, server.now());
  assert.equal((await browser.submit(page, { code, trust: 'on' }, '/login/verify')).status, 303);
  const waiting = await atSecondStep(server, user);
  await askRecovery(server, agent(server.baseUrl), email);
  const recovery = await newestMail(server, email, 'recovery');

  const other = await newUser(server, { emailVerified: true });
  const moving = await signedIn(server, other);
  const next = `moved-${other.username}@example.com`;
  await moving.submit(await moving.get('/account/email'), { email: next }, '/account/email');
  const [confirmation] = (await allMails(server)).filter(({ to }) => to === next);
  const { url } = (await admin(server, 'POST', `/users/${other.id}/recovery-link`, {})).body;
  const { link } = (await admin(server, 'POST', '/invitations', {})).body;
  const notice = (await allMails(server)).find((mail) => secretOf(mail.link) !== '' && mail.kind !== 'recovery');

  const links = {
    'recovery link': recovery.link,
    'recovery link of an operator': url,
    'link that changes an address': confirmation?.link,
    'invitation link': link,
    [`link of the message “${notice?.subject}”`]: notice?.link,
  };
  const paths = Object.values(links).map((full) => {
    const path = String(full).slice(server.baseUrl.length);
    return (secret: string) => path.replace(secretOf(full), secret);
  });
  return {
    secrets: {
      ...Object.fromEntries(Object.entries(links).map(([name, full]) => [name, secretOf(full)])),
      'seed of an authenticator app': factor.seed,
      'recovery code': factor.recoveryCodes[0] ?? '',
      'recovery code without its dashes': (factor.recoveryCodes[0] ?? '').replaceAll('-', ''),
      'cookie of a trusted browser': browser.cookie('tessera_trusted') ?? '',
      'browser of a sign-in at its second step': waiting.browser.cookie('tessera_browser') ?? '',
    },
    paths,
  };
}

const addressOf = async (server: TestServer, { id }: TestUser): Promise<string> =>
  (await admin(server, 'GET', `/users/${id}`)).body.email;
