import { identitiesToProve } from '../../account-actions/sign-in/prove-by-upstream.ts';
import type { Factor } from '../../authenticators/rules/factors.ts';
import { isolate, operator } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Work } from '../../platform/database/database.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';
import type { Upstream } from '../../upstreams/store.ts';
import type { PageServices } from '../sign-in/routes.ts';
import type { AccountVisit } from './visit.ts';

/** How a person proves who they are who had neither password nor passkey nor app when their session began. */
export interface WeakProof {
  /** The other providers that were connected by then. */
  readonly providers: readonly Upstream[];
  /** Whether they can sign in again with something else. */
  readonly canSignIn: boolean;
  /** Whether a code by mail is all there is. */
  readonly byCode: boolean;
}

export async function readWeakProof(
  { database, upstreams, signInCode }: PageServices,
  { session }: Pick<AccountVisit, 'session'>,
  factors: readonly Factor[],
): Promise<WeakProof> {
  const shown = await upstreams.shown();
  return database.read(function* read(): Work<WeakProof> {
    const connected = (yield* listIdentities(session)).filter(({ isActive }) => isActive);
    const ids = (yield* identitiesToProve(session)).map(({ upstreamId }) => upstreamId);
    const byCode = signInCode && factors.length === 0 && connected.length === 0;
    const canSignIn = signInCode || factors.length > 0 || connected.length > 0;
    return { providers: shown.filter(({ id }) => ids.includes(id)), canSignIn, byCode };
  });
}

/** What such a person does. @param target the change, as the addresses name it */
export function weakProof(
  { site, mail }: PageServices,
  { providers, canSignIn, byCode }: WeakProof,
  target: string,
): Html {
  const { proof: text, signIn, signInCode, recovery } = site.messages;
  const recover = mail.available
    ? html`<a href="${site.path('/recover')}">${text.recover}</a>`
    : recovery.noMail(operator(site));
  if (providers.length > 0) {
    return html`<p>${text.elsewhere}</p>
<div class="stack">${providers.map(({ name, displayName }) => html`<a class="button primary" href="${site.path(`/account/confirm/with/${name}?next=${target}`)}">${signIn.continueWith(isolate(displayName))}</a>`)}</div>
<p class="muted small">${text.elsewhereLost} ${recover}</p>`;
  }
  if (!canSignIn) return html`<p>${text.nothing} ${recover}</p>`;
  return html`<p>${signInCode.proof}</p><div><a class="button primary" href="${site.path(`/account/confirm/again?next=${target}`)}">${byCode ? signInCode.offer : text.again}</a></div>`;
}
