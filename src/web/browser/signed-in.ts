import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/store.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { signedInAside } from '../../pages/signed-in.ts';
import type { Clock } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import { readVisitor } from '../../sessions/sessions.ts';
import type { Browser, Browsers, FormViewer } from './browser.ts';

/** The context of the form that signs a person out. */
export const logoutContext = (accountId: string): string => `logout ${accountId}`;

/** What a page shows around its content where somebody is signed in: who, and in the theme that they chose. */
export const signedInFrame = (
  site: Site,
  browser: Browser,
  { account, session }: FormViewer & { readonly account: Account },
): Pick<Page, 'theme' | 'aside'> => ({
  theme: account.profile.theme,
  aside: signedInAside(site, account, browser.formToken(logoutContext(account.id), { account, session })),
});

export interface FrameServices {
  readonly site: Site;
  readonly browsers: Browsers;
  readonly database: Pick<Database, 'read'>;
  readonly clock: Clock;
}

/** {@link signedInFrame} of whom the request is from; nothing where that is nobody. */
export async function visitorFrame(
  { site, browsers, database, clock }: FrameServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Partial<Pick<Page, 'theme' | 'aside'>>> {
  const browser = browsers.of(request, reply);
  const { sessionSecret } = browser;
  if (sessionSecret === undefined) return {};
  const visitor = await database.read(() => readVisitor(digest(sessionSecret), clock()));
  return visitor.kind === 'signed in' ? signedInFrame(site, browser, visitor) : {};
}
