import type { FastifyReply, FastifyRequest } from 'fastify';
import { providerClientOf } from '../../account-actions/upstreams/upstreams.ts';
import { redirect } from '../../platform/http/server.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import { newAttempt, type ProviderQuestion } from '../../upstreams/kind.ts';
import { kinds } from '../../upstreams/kinds/kinds.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { redirectUriOf } from '../../upstreams/view.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { type Departure, sealState } from './kept.ts';

/** What an app's request asks of the sign-in, to be asked of the upstream as well. */
function askedBy(pending: PendingRequest | undefined): {
  readonly maxAge: number | null;
  readonly prompt: ProviderQuestion['prompt'];
  readonly loginHint: string | null;
  readonly acrs: readonly string[];
} {
  if (pending === undefined) return { maxAge: null, prompt: null, loginHint: null, acrs: [] };
  const { prompt, maxAge, loginHint, acrs = [] } = pending.request;
  const again = prompt.login ? 'login' : prompt.select ? 'select_account' : null;
  return { maxAge, prompt: again, loginHint, acrs };
}

/** What a browser is sent away for: to sign in, perhaps to an app, to connect an identity in a session, or for a proof there. */
type Purpose =
  | { readonly pending: PendingRequest | undefined; readonly session: null; readonly proves: null }
  | { readonly pending: undefined; readonly session: string; readonly proves: string | null };

/** What the upstream is asked for, beside who the person is. */
function questionOf(upstream: Upstream, { pending, session, proves }: Purpose) {
  const asked = askedBy(pending);
  if (session === null) return asked;
  // A person who is signed in there has proved nothing now.
  const isAskedAgain = proves !== null && kinds[upstream.kind].asksAgain;
  return { ...asked, prompt: isAskedAgain ? ('login' as const) : ('select_account' as const) };
}

/**
 * Sends a browser to an upstream. Nothing is stored: what is needed again when it comes back is in the `state`, sealed.
 * @throws {UpstreamRefusal} where the upstream does not say where
 */
export async function depart(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  upstream: Upstream,
  purpose: Purpose,
): Promise<FastifyReply> {
  const { browsers, clock, issuer, sealer, upstreams } = services;
  const { hash: browserHash } = browsers.of(request, reply);
  const { pending, session, proves } = purpose;
  const { maxAge, prompt, loginHint, acrs } = questionOf(upstream, purpose);
  const departure: Departure = {
    ...newAttempt(maxAge, prompt === 'login' ? clock() : null),
    ...{
      upstreamId: upstream.id,
      generation: upstream.generation,
      browserHash,
      handle: pending?.handle ?? null,
      session,
      proves,
      leftAt: clock(),
    },
  };
  const question: ProviderQuestion = {
    redirectUri: redirectUriOf(issuer, upstream),
    state: sealState(services, departure),
    prompt,
    loginHint,
    acrs,
  };
  const provider = { ...upstreams, clock };
  const client = providerClientOf(sealer, upstream);
  return redirect(request, reply, await kinds[upstream.kind].begin(provider, client, departure, question));
}
