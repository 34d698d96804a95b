import { record } from '../../audit/audit.ts';
import type { EndpointSet } from '../../claims/endpoint-set.ts';
import { createClient } from '../../clients/clients.ts';
import { removeClient } from '../../clients/store.ts';
import { seal, unseal } from '../../keys/seal.ts';
import { take } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { type Clock, HOUR } from '../../platform/clock.ts';
import { randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { FORM_TOKEN } from '../../platform/http/form-tokens.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { addressBucket } from '../../platform/validation/origin.ts';
import type { Exchange, SendRequest } from './exchange.ts';
import {
  type AuthorizationAttempt,
  currentTokens,
  newPlaygroundSession,
  type PlaygroundAction,
  type PlaygroundSession,
  type ReceivedTokens,
  type RevocationExchanges,
  responseStatus,
  withNewAttempt,
} from './rules/progress.ts';
import { CALLBACK, exchangeRequest, keySetRequest, refreshRequest, userInfoRequest } from './rules/requests.ts';
import { addPlaygroundSession, claimTurn, findPlaygroundSession, saveTurn } from './store.ts';

export interface PlaygroundContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly issuer: string;
  /** Seals the sessions' content: 32 bytes that the database does not contain. */
  readonly playgroundKey: Buffer;
}

/** A stored session and the turn that its next action takes. */
export interface OpenPlaygroundSession {
  readonly browserHash: string;
  readonly turn: number;
  readonly session: PlaygroundSession;
}

/** What a session had before there was a choice of endpoints. */
const BEFORE_CHOICE = { endpoints: 'v2', keySet: null } as const;
type StoredSession = Omit<PlaygroundSession, keyof typeof BEFORE_CHOICE> & Partial<PlaygroundSession>;

/** How long a session and its app last. */
const LIFETIME = HOUR;

const sealContext = (browserHash: string): string => `playground visit ${browserHash}`;
const sealed = ({ playgroundKey }: PlaygroundContext, browserHash: string, session: PlaygroundSession): string =>
  seal(playgroundKey, Buffer.from(JSON.stringify(session), 'utf8'), sealContext(browserHash));

const newAttempt = (): AuthorizationAttempt => ({
  state: randomSecret(),
  nonce: randomSecret(),
  verifier: randomSecret(),
});

/**
 * Registers an app and starts a session with it; the browser's previous session and its app are deleted.
 * @returns the seconds to wait if the address has started too many sessions, otherwise 0
 */
export async function startPlaygroundSession(
  context: PlaygroundContext,
  browserHash: string,
  endpoints: EndpointSet,
  origin: Origin,
): Promise<number> {
  const { database, clock, limits, issuer } = context;
  const now = clock();
  const bucket = `playground ${addressBucket(origin.address ?? '')}`;
  const about = { name: 'playgroundAddress', origin } as const;
  const wait = await database.commit(() => take(bucket, limits.playgroundAddress, now, about));
  if (wait > 0) return wait;
  const registration = { name: 'Playground app', owner: 'your own playground', redirectUris: [issuer + CALLBACK] };
  const expiresAt = now + LIFETIME;
  await createClient({ ...context, operator: undefined }, registration, origin, {
    *alsoCommit({ id }, clientSecret): Work<void> {
      const previous = yield* findPlaygroundSession({ browserHash });
      if (previous !== undefined && (yield* removeClient({ id: previous.clientId }))) {
        yield* record({ at: now, type: 'client.deleted', origin, clientId: previous.clientId });
      }
      const session = newPlaygroundSession({ endpoints, clientId: id, clientSecret, expiresAt }, newAttempt());
      const content = sealed(context, browserHash, session);
      yield* addPlaygroundSession({ browserHash, clientId: id, turn: 1, sealed: content, expiresAt });
    },
  });
  return 0;
}

/** Finds the unexpired session of a browser. */
export async function findOpenSession(
  context: PlaygroundContext,
  browserHash: string,
): Promise<OpenPlaygroundSession | undefined> {
  const stored = await context.database.read(() => findPlaygroundSession({ browserHash }));
  if (stored === undefined || stored.expiresAt <= context.clock()) return undefined;
  // A session that was sealed under a previous server secret cannot be read and counts as expired.
  const bytes = unseal(context.playgroundKey, stored.sealed, sealContext(browserHash));
  if (bytes === undefined) return undefined;
  // A node of an earlier version stores no choice of endpoints, and no keys.
  const session = { ...BEFORE_CHOICE, ...(JSON.parse(bytes.toString('utf8')) as StoredSession) };
  return { browserHash, turn: stored.turn, session };
}

/**
 * Claims the session's next turn, runs the action and saves what it returns. If two tabs press the same button, one of them runs:
 * a code that was sent twice would revoke its tokens.
 */
export async function runOnce(
  context: PlaygroundContext,
  open: OpenPlaygroundSession,
  action: () => Promise<PlaygroundSession>,
): Promise<void> {
  const { browserHash, turn, session } = open;
  const { clientId } = session;
  if (!(await context.database.commit(() => claimTurn({ browserHash, clientId, turn })))) return;
  const content = sealed(context, browserHash, await action());
  await context.database.commit(() => saveTurn({ browserHash, clientId, turn: turn + 1, sealed: content }));
}

/** What an action needs besides the session. */
interface ActionContext {
  readonly send: SendRequest;
  readonly issuer: string;
  /** The browser's cookies and the form token of its account: what the Connected apps form is sent with. */
  readonly cookies: string;
  readonly accountToken: string;
}

/** Sends the requests of an action. @param action the session's next action */
export async function performAction(
  session: PlaygroundSession,
  action: PlaygroundAction,
  context: ActionContext,
): Promise<PlaygroundSession> {
  const { send, issuer } = context;
  if (action === 'again') return withNewAttempt(session, newAttempt());
  if (action === 'tokens') {
    const tokens = await send(exchangeRequest(session, session.callback?.code ?? '', issuer));
    const asksForKeys = session.endpoints === 'oidc' && responseStatus(tokens) === 200;
    return { ...session, tokens, keySet: asksForKeys ? await send(keySetRequest) : null };
  }
  const tokens = currentTokens(session);
  if (tokens === undefined) return session;
  if (action === 'userinfo') return { ...session, userinfo: await send(userInfoRequest(session, tokens.access_token)) };
  if (action === 'refresh') return { ...session, refresh: await send(refreshRequest(session, tokens.refresh_token)) };
  return { ...session, revoke: await revokeAccess(session, tokens, context) };
}

/** Sends the form of the Connected apps page, and then uses both tokens of the app once more. */
async function revokeAccess(
  session: PlaygroundSession,
  { access_token, refresh_token }: ReceivedTokens,
  { send, issuer, cookies, accountToken }: ActionContext,
): Promise<RevocationExchanges> {
  const form = await send({
    method: 'POST',
    path: '/account/connections',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'text/html',
      Origin: new URL(issuer).origin,
      Cookie: cookies,
    },
    body: String(new URLSearchParams({ [FORM_TOKEN]: accountToken, client_id: session.clientId })),
  });
  const userinfo = await send(userInfoRequest(session, access_token));
  const refresh = await send(refreshRequest(session, refresh_token));
  return { act: redacted(form, cookies, accountToken), userinfo, refresh };
}

/** Replaces the user's cookies and form token, and the HTML of the page, by placeholders. */
function redacted(exchange: Exchange, cookies: string, accountToken: string): Exchange {
  const end = exchange.answer.indexOf('\r\n\r\n') + 4;
  const size = Buffer.byteLength(exchange.answer.slice(end));
  return {
    ...exchange,
    request: exchange.request.replace(cookies, '[your cookies]').replace(accountToken, '[your form token]'),
    answer: `${exchange.answer.slice(0, end).replaceAll(/^set-cookie: .*$/gim, 'set-cookie: [omitted]')}[the Connected apps page, ${size} bytes]`,
  };
}
