import {
  type AccessToken,
  type Assignment,
  type Browser,
  type Client,
  type Code,
  type EndpointSet,
  type Family,
  fresh,
  type Grant,
  type Membership,
  type Path,
  type RefreshToken,
  type Request,
  type Session,
  type Stand,
  type State,
  type User,
} from './state.ts';

/**
 * The reference model: the decisions on codes, tokens, sessions, consent and account states, as plain as they can be
 * said. It shares no code with the service.
 */

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** Contract §8. */
const ACCESS_SECONDS = 1800;
const REFRESH_SECONDS = 7 * 86_400;
/** Decisions §§3, 4 and 7. */
export const CODE_LIFE = 60 * SECOND;
export const GRACE = 30 * SECOND;
const FAMILY_LIFE = 90 * DAY;
export const REQUEST_LIFE = HOUR;
export const SESSION_LIFE = 30 * DAY;
export const SESSION_IDLE = 14 * DAY;

export interface Answer {
  readonly status: number;
  readonly error?: string;
  readonly description?: string;
}

export type Verdict = 'live' | 'invalid' | 'banned' | 'suspended' | 'revoked';

export const MESSAGES = {
  banned: 'Account banned',
  suspended: 'Account is suspended',
  revoked: 'Access revoked by user',
} as const;

export const banned = (user: User, now: number): boolean => now < user.bannedUntil;

/** Decisions §5, in its order. */
export function verdict(stand: Stand, at: { now: number; expired: boolean; dead: boolean }): Verdict {
  const { user, client, grant } = stand;
  if (at.expired || !user.exists || !client.enabled) return 'invalid';
  if (banned(user, at.now)) return 'banned';
  if (user.suspended) return 'suspended';
  if (grant.revoked) return 'revoked';
  if (user.generation !== stand.userGeneration || client.generation !== stand.clientGeneration) return 'invalid';
  if (client.access === 'assigned' && !isPath(stand.path)) return 'invalid';
  if (at.dead) return 'invalid';
  return 'live';
}

/** Decisions §12: an assignment that has not ended, and the membership by which it reaches the person. */
const isPath = (path: Path | undefined): boolean =>
  path !== undefined && !path.assignment.ended && path.membership?.ended !== true;

/** The paths of a person to an app: of their own, by groups, by organizations, each in the order of the assignments. */
export function pathsOf({ assignments, memberships }: Readonly<State>, user: User, client: Client): readonly Path[] {
  const inOrder = assignments
    .filter((assignment) => assignment.client === client)
    .toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  const own = inOrder.filter(({ to }) => to === user).map((assignment) => ({ assignment, membership: undefined }));
  const by = (kind: 'group' | 'organization') =>
    inOrder.flatMap((assignment) =>
      memberships
        .filter((membership) => membership.user === user && membership.of === assignment.to)
        .filter(({ of }) => of.kind === kind)
        .map((membership) => ({ assignment, membership })),
    );
  return [...own, ...by('group'), ...by('organization')];
}

/** Takes memberships and assignments away. Sign-ins of people with another path go on by that, and all others end. */
export function losePaths(
  state: State,
  lost: { readonly memberships: readonly Membership[]; readonly assignments: readonly Assignment[] },
): void {
  for (const one of [...lost.memberships, ...lost.assignments]) one.ended = true;
  const keep = <T extends { ended: boolean }>(list: T[]) =>
    list.splice(0, list.length, ...list.filter(({ ended }) => !ended));
  keep(state.memberships);
  keep(state.assignments);
  for (const family of state.families) {
    if (family.path === undefined || isPath(family.path)) continue;
    const [other] = pathsOf(state, family.user, family.client);
    if (other === undefined) family.dead = true;
    // What had ended before does not come back.
    else if (!family.dead) family.path = other;
  }
}

/** A change either way ends what the app has. */
export function setAccess(state: State, client: Client, access: Client['access']): void {
  client.access = access;
  client.generation = fresh(state);
}

const tokenVerdict = ({ now }: Readonly<State>, { family, expires }: AccessToken | RefreshToken): Verdict =>
  verdict(family, {
    now,
    // RFC 7519 §4.1.4: good in the last second, dead in the instant of `exp`.
    expired: expires <= Math.floor(now / SECOND) || family.ends <= now,
    dead: family.dead,
  });

const forbidden = (kind: keyof typeof MESSAGES): Answer => ({
  status: 403,
  error: 'access_denied',
  description: MESSAGES[kind],
});
export const INVALID_GRANT: Answer = { status: 400, error: 'invalid_grant' };
const INVALID_CLIENT: Answer = { status: 401, error: 'invalid_client' };
export const OK: Answer = { status: 200 };

const INVALID_TOKEN: Answer = { status: 401, error: 'invalid_token' };

/** Decisions §§5 and 10. A token of the v2 endpoints is accepted at both addresses, one of the standards' at theirs alone. */
export function userInfoAnswer(state: State, token: AccessToken, at: EndpointSet): Answer {
  if (at === 'v2' && token.family.endpointSet === 'oidc') return INVALID_TOKEN;
  const kind = tokenVerdict(state, token);
  if (kind === 'invalid') return INVALID_TOKEN;
  if (kind !== 'live') return at === 'v2' ? forbidden(kind) : { ...INVALID_TOKEN, description: MESSAGES[kind] };
  return token.fixed.includes('openid') ? OK : { status: 403, error: 'insufficient_scope' };
}

function grantAnswer(kind: Exclude<Verdict, 'live'>, at: EndpointSet): Answer {
  if (kind === 'invalid') return INVALID_GRANT;
  return at === 'v2' ? forbidden(kind) : { ...INVALID_GRANT, description: MESSAGES[kind] };
}

/** Who presents something at the token endpoint, and at which. */
export interface Presenter {
  readonly at: EndpointSet;
  readonly client: Client;
  /** Which of the client's secrets; undefined is one that never was. */
  readonly secret: Client['secrets'][number] | undefined;
}

export const liveSecrets = ({ secrets }: Client, now: number) => secrets.filter(({ until }) => now < until);

const authenticated = ({ client, secret }: Presenter, now: number): boolean =>
  client.enabled && secret !== undefined && now < secret.until;

/** What presenting a credential would do: the answer, and the move where it changes anything. */
export interface Outcome<M> {
  readonly answer: Answer;
  readonly move: M | 'none';
}

/** Decisions §3. */
export function redeemOutcome(
  { now }: State,
  code: Code,
  presenter: Presenter,
  right: { redirect: boolean; verifier: boolean },
): Outcome<'redeem' | 'kill'> {
  if (!authenticated(presenter, now)) return { answer: INVALID_CLIENT, move: 'none' };
  if (
    presenter.client !== code.client ||
    presenter.at !== code.endpointSet ||
    !right.redirect ||
    !right.verifier ||
    !code.user.exists ||
    // No longer on record.
    code.dropped
  ) {
    return { answer: INVALID_GRANT, move: 'none' };
  }
  const used = code.family !== undefined;
  const kind = verdict(code, { now, expired: code.expires <= now, dead: used });
  if (kind === 'live' && isEmpty(code)) return { answer: INVALID_GRANT, move: 'none' };
  if (kind === 'live') return { answer: OK, move: 'redeem' };
  return { answer: grantAnswer(kind, code.endpointSet), move: used && code.family?.dead === false ? 'kill' : 'none' };
}

/** Whether a refresh may ask for these scopes: `openid` belongs to every family of the v2 endpoints. */
const isAvailable = ({ endpointSet, scopes, fixed }: Family, requested: readonly string[]): boolean =>
  requested.every(
    (scope) => scopes.includes(scope) || fixed.includes(scope) || (endpointSet === 'v2' && scope === 'openid'),
  );

/** Decisions §4. */
export function refreshOutcome(
  state: Readonly<State>,
  token: RefreshToken,
  presenter: Presenter,
  scopes: readonly string[] | undefined,
): Outcome<'rotate' | 'repeat' | 'kill'> {
  if (!authenticated(presenter, state.now)) return { answer: INVALID_CLIENT, move: 'none' };
  const { family } = token;
  if (presenter.client !== family.client || presenter.at !== family.endpointSet)
    return { answer: INVALID_GRANT, move: 'none' };
  const kind = tokenVerdict(state, token);
  if (kind !== 'live') return { answer: grantAnswer(kind, family.endpointSet), move: 'none' };
  const repeat = token === family.predecessor && state.now < family.rotated + GRACE;
  if (token !== family.leaf && !repeat) return { answer: INVALID_GRANT, move: 'kill' };
  if (scopes !== undefined && !isAvailable(family, scopes)) {
    return { answer: { status: 400, error: 'invalid_scope' }, move: 'none' };
  }
  if (isEmpty(family)) return { answer: INVALID_GRANT, move: 'none' };
  return { answer: OK, move: repeat ? 'repeat' : 'rotate' };
}

/** @param requested the `scope` of a refresh; undefined is everything */
export function newAccessToken(state: State, family: Family, requested: readonly string[] | undefined): AccessToken {
  const asked = family.endpointSet === 'v2' ? ['openid', ...(requested ?? [])] : requested;
  const part = (list: readonly string[]) =>
    requested === undefined ? list : list.filter((scope) => asked?.includes(scope));
  const [scopes, fixed] = [part(family.scopes), part(family.fixed)];
  const token = { family, scopes, fixed, expires: Math.floor(state.now / SECOND) + ACCESS_SECONDS };
  state.access.push(token);
  return token;
}

/** Puts a new refresh token at the end of a family's chain. */
export function newLeaf(state: State, family: Family): RefreshToken {
  const expires = Math.min(Math.floor(state.now / SECOND) + REFRESH_SECONDS, Math.floor(family.ends / SECOND));
  const token = { family, expires };
  family.predecessor = family.leaf;
  family.leaf = token;
  family.rotated = state.now;
  state.refresh.push(token);
  return token;
}

export function newFamily(state: State, code: Code): Family {
  const { endpointSet, user, client, grant, userGeneration, clientGeneration, path, scopes, fixed, session } = code;
  const family: Family = {
    ...{ endpointSet, user, client, grant, userGeneration, clientGeneration, path, scopes, fixed, session },
    ends: state.now + FAMILY_LIFE,
    dead: false,
    leaf: undefined,
    predecessor: undefined,
    rotated: 0,
  };
  code.family = family;
  state.families.push(family);
  return family;
}

export const hasRunOut = ({ began, touched }: Session, now: number): boolean =>
  began + SESSION_LIFE <= now || touched + SESSION_IDLE <= now;

export type Presence = 'no session' | 'unclear' | 'banned' | 'suspended' | Session;

/** Who a browser is, to the service. Idleness is counted to the hour: between the two bounds either may be. */
export function presence({ now }: State, { user, session }: Browser): Presence {
  if (session === undefined || !user.exists) return 'no session';
  if (hasRunOut(session, now)) return 'no session';
  if (session.used + SESSION_IDLE - HOUR <= now) return 'unclear';
  if (banned(user, now)) return 'banned';
  if (user.suspended) return 'suspended';
  return session.generation === user.generation ? session : 'no session';
}

export type Stage =
  | { readonly kind: 'displayed' }
  | { readonly kind: 'login' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'no access' }
  | { readonly kind: 'consent'; readonly asked: readonly string[] }
  | { readonly kind: 'issue' };

/** The live grants of a person for an app: one for each set of endpoints at the most. */
export const liveGrants = (state: State, user: User, client: Client): Grant[] =>
  state.grants.filter((grant) => grant.user === user && grant.client === client && !grant.revoked);

export const liveGrant = (state: State, user: User, { client, endpointSet }: Pick<Request, 'client' | 'endpointSet'>) =>
  liveGrants(state, user, client).find((grant) => grant.endpointSet === endpointSet);

/** Decisions §10: taking access away ends both sets of endpoints. */
export function revoke(state: State, user: User, client: Client): void {
  for (const grant of liveGrants(state, user, client)) grant.revoked = true;
  state.revocations.push({ user, client });
}

export const revocations = (state: State, user: User, client: Client): number =>
  state.revocations.filter((revocation) => revocation.user === user && revocation.client === client).length;

/** Decisions §10: whether what was decided before does not answer a request. */
function asksAnew({ endpointSet, scopes, fixed }: Request, grant: Grant): boolean {
  if (endpointSet === 'v2') return grant.askAgain;
  const isNewlyOffline = fixed.includes('offline_access') && !grant.fixed.has('offline_access');
  return isNewlyOffline || (fixed.length === 0 && !scopes.some((scope) => grant.scopes.has(scope)));
}

/** Where an authorization request stands: decisions §§2 and 3. */
export function stage(state: State, request: Request, browser: Browser): Stage {
  const { client } = request;
  if (!client.enabled || client.generation !== request.clientGeneration) return { kind: 'displayed' };
  const who = presence(state, browser);
  if (who === 'banned' || who === 'suspended') return { kind: 'refused', message: MESSAGES[who] };
  if (typeof who === 'string') return { kind: 'login' };
  if (client.access === 'assigned' && pathsOf(state, browser.user, client).length === 0) return { kind: 'no access' };
  const grant = liveGrant(state, browser.user, request);
  if (grant === undefined || request.always || asksAnew(request, grant)) {
    return { kind: 'consent', asked: request.scopes };
  }
  const asked = request.scopes.filter((scope) => !grant.scopes.has(scope) && !grant.declined.has(scope));
  return asked.length === 0 ? { kind: 'issue' } : { kind: 'consent', asked };
}

/** Writes down what a person allowed of what was asked. */
export function consent(
  state: State,
  user: User,
  request: Request,
  asked: readonly string[],
  allowed: Set<string>,
): void {
  const { client, endpointSet, fixed } = request;
  let grant = liveGrant(state, user, request);
  const isNothing = endpointSet === 'oidc' && fixed.length === 0 && !asked.some((scope) => allowed.has(scope));
  if (grant === undefined && !isNothing) {
    grant = {
      endpointSet,
      user,
      client,
      scopes: new Set(),
      declined: new Set(),
      fixed: new Set(),
      askAgain: false,
      revoked: false,
    };
    state.grants.push(grant);
  }
  if (grant !== undefined) {
    for (const scope of asked) {
      const [to, from] = allowed.has(scope) ? [grant.scopes, grant.declined] : [grant.declined, grant.scopes];
      to.add(scope);
      from.delete(scope);
    }
    for (const scope of fixed) grant.fixed.add(scope);
    grant.askAgain = false;
  }
  const switchedOff = new Set(asked.filter((scope) => !allowed.has(scope)));
  const other = liveGrants(state, user, client).find((live) => live !== grant);
  if (other !== undefined) switchOff(other, switchedOff, grant?.declined ?? switchedOff);
  // Decisions §2: what is taken away is taken from everything issued under a grant, and what is given is not added to it.
  for (const issued of [...state.codes, ...state.families]) {
    if (issued.grant !== grant && issued.grant !== other) continue;
    issued.scopes = issued.scopes.filter((scope) => !issued.grant.declined.has(scope));
  }
}

/** What the v2 endpoints always shares. */
const SHARED = ['profile', 'email'];

/**
 * Decisions §10: what is switched off at one set of endpoints is switched off at the other, and never switched on. The page of
 * the v2 endpoints comes again where a decision at the OIDC endpoints declined what the v2 endpoints always share.
 */
function switchOff(other: Grant, switchedOff: ReadonlySet<string>, declined: ReadonlySet<string>): void {
  for (const scope of switchedOff) {
    if (other.endpointSet === 'v2' && scope === 'profile') continue;
    other.scopes.delete(scope);
    other.declined.add(scope);
  }
  if (other.endpointSet === 'oidc') return;
  const isShared = (scopes: ReadonlySet<string>) => SHARED.some((scope) => scopes.has(scope));
  other.askAgain = isShared(switchedOff) || (other.askAgain && isShared(declined));
}

/** Whether nothing that was requested is granted. An access token has one scope at least. */
export function grantsNothing(state: State, request: Request, user: User): boolean {
  const grant = liveGrant(state, user, request);
  const isGranted = request.scopes.some((scope) => grant?.scopes.has(scope));
  return request.endpointSet === 'oidc' && request.fixed.length === 0 && !isGranted;
}

const isEmpty = ({ scopes, fixed }: Pick<Code, 'scopes' | 'fixed'>): boolean => scopes.length + fixed.length === 0;

export function newCode(state: State, request: Request, { user, session }: Browser): Code {
  const { endpointSet, client, clientGeneration, fixed, redirect, pkce } = request;
  const grant = liveGrant(state, user, request);
  if (grant === undefined || session === undefined) throw new Error('a code without consent or session');
  session.used = session.touched = state.now;
  const code: Code = {
    ...{ endpointSet, user, client, grant, clientGeneration, redirect, pkce },
    // Frozen at sign-in and inherited by the session, never read anew.
    userGeneration: session.generation,
    path: client.access === 'assigned' ? pathsOf(state, user, client)[0] : undefined,
    scopes: request.scopes.filter((scope) => grant.scopes.has(scope)),
    fixed: endpointSet === 'v2' ? ['openid', ...fixed.filter((scope) => scope !== 'openid')] : fixed,
    expires: state.now + CODE_LIFE,
    session: endpointSet === 'oidc' && !fixed.includes('offline_access') ? session : undefined,
    dropped: false,
    family: undefined,
  };
  state.codes.push(code);
  return code;
}

export function newSession(state: State, browser: Browser): void {
  const { now } = state;
  browser.session = { generation: browser.user.generation, began: now, used: now, touched: now };
}

/** Decisions §10: what is bound to a session ends when the person ends it. It outlives a session that runs out. */
export function signOut(state: State, browser: Browser): void {
  const { session } = browser;
  browser.session = undefined;
  if (session === undefined) return;
  for (const code of state.codes) if (code.session === session && code.family === undefined) code.dropped = true;
  for (const family of state.families) if (family.session === session) family.dead = true;
}

/** A sign-in removes the session of an earlier generation whose cookie the browser sends, with the codes of that session. */
export function dropDeadSession(state: State, browser: Browser): void {
  const { session, user } = browser;
  if (session === undefined || session.generation === user.generation) return;
  for (const code of state.codes) if (code.session === session && code.family === undefined) code.dropped = true;
}

/** Ends all that began before: ban, suspension, new password, sign out everywhere. */
export function secure(state: State, user: User): void {
  user.generation = fresh(state);
}

export function disable(state: State, client: Client): void {
  client.enabled = false;
  client.generation = fresh(state);
}

/** Decisions §1: never more than two secrets hold, the older one for the overlap at the most. */
export function rotateSecret(state: State, client: Client, overlap: number): void {
  const live = liveSecrets(client, state.now);
  for (const secret of live)
    secret.until = secret === live.at(-1) ? Math.min(secret.until, state.now + overlap) : state.now;
  client.secrets.push({ until: Number.POSITIVE_INFINITY });
}
