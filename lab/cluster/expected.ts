import { ended, happened, type Maybe } from './facts.ts';
import { type EndpointSet, type Moment, OK, type Operation } from './history.ts';
import {
  type Client,
  type Code,
  type Consent,
  type DeviceAnswer,
  effect,
  found,
  isCrossing,
  isFault,
  type Known,
  type Poll,
  type Refresh,
} from './known.ts';

/** Decisions §4 and §3, and how far two clocks that run equally fast may be read apart. */
const GRACE = 30_000;
const CODE_LIFE = 60_000;
const SLACK = 200;

export const INVALID_TOKEN = '401 invalid_token';
export const INVALID_CLIENT = '401 invalid_client';
export const INVALID_GRANT = '400 invalid_grant';
export const MESSAGES = {
  banned: 'Account banned',
  suspended: 'Account is suspended',
  revoked: 'Access revoked by user',
} as const;
export const BANNED = `403 ${MESSAGES.banned}`;
export const SUSPENDED = `403 ${MESSAGES.suspended}`;
export const LOGIN = 'login';
export const CONSENT = 'consent';
/** A page with status 400 and no redirect: there is no client to answer to. */
export const DISPLAYED = '400 displayed';
/** The client was disabled after the request had been found good: it is told to come back. */
const INTERRUPTED = 'redirect temporarily_unavailable';
/** A consent form from before the access was taken away: the page comes again. */
export const STALE = '409 displayed';
/** A sign-in whose password changed while the one that was sent was hashed. */
const CHANGED = '401 displayed';
/** A sign-in whose account was signed out everywhere meanwhile, or banned or suspended and is no more. */
const OVERTAKEN = '409 displayed';

/** A device that somebody has answered, or whose code has expired. */
const ANSWERED = '410 displayed';
/** The page of a device that gets nothing, although its person allowed it. */
export const NOT_CONNECTED = 'not connected';
export const PENDING = '400 authorization_pending';
export const SLOW_DOWN = '400 slow_down';
const DENIED_DEVICE = '400 access_denied';
const NOT_FOUND = '404 not_found';
/** What comes of a redemption that is the first, or that the client could not make. */
const NO_REPLAY = new Set([OK, INVALID_CLIENT, PENDING, SLOW_DOWN, DENIED_DEVICE]);

/** How an endpoint refuses what the verdict ends. Decisions §10: the two sets of endpoints say it with different statuses. */
interface Refusals {
  readonly invalid: string;
  /** The status of a ban, a suspension and a revocation, which come with their message. */
  readonly barred: number;
}
const TOKEN_ENDPOINT: Readonly<Record<EndpointSet, Refusals>> = {
  v2: { invalid: INVALID_GRANT, barred: 403 },
  oidc: { invalid: INVALID_GRANT, barred: 400 },
};
const USER_INFO: Readonly<Record<EndpointSet, Refusals>> = {
  v2: { invalid: INVALID_TOKEN, barred: 403 },
  oidc: { invalid: INVALID_TOKEN, barred: 401 },
};

/** The checks of a request in their order. Each gives the answers that are possible so far. */
class Ladder {
  readonly outcomes = new Set<string>();
  #decided = false;

  check(holds: Maybe, refusal: string): this {
    if (this.#decided || holds === 'no') return this;
    this.outcomes.add(refusal);
    this.#decided = holds === 'yes';
    return this;
  }

  otherwise(outcome: string): ReadonlySet<string> {
    if (!this.#decided) this.outcomes.add(outcome);
    return this.outcomes;
  }
}

/** The decisions on what an operation may answer, from what happened before it and beside it. */
export class Rules {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  /** Every outcome that is right for an operation. */
  expected(operation: Operation): ReadonlySet<string> {
    const { users, clients, connections, sessions, codes, families } = this.#known;
    switch (operation.kind) {
      case 'sign in': {
        const { banned, suspended, secured } = users.of(operation.user);
        return (
          new Ladder()
            // The password that was checked is no longer the one on record.
            .check(beside(secured, operation), CHANGED)
            .check(banned.during(operation), BANNED)
            .check(suspended.during(operation), SUSPENDED)
            .check(beside(secured, operation), OVERTAKEN)
            .otherwise(OK)
        );
      }
      case 'authorize': {
        const client = clients.of(operation.client);
        const consented = connections.of(operation.user, operation.client).consented[operation.endpointSet];
        const ladder = new Ladder()
          .check(barred(client, operation), DISPLAYED)
          .check(beside(client.forgotten, operation), DISPLAYED)
          .check(beside(client.ended, operation), INTERRUPTED);
        // Decisions §15: no earlier consent answers for an app that no operator registered.
        return this.#session(ladder, operation.session, operation)
          .check(isAskedEachTime(client) ? 'yes' : opposite(consented.during(operation)), CONSENT)
          .otherwise(OK);
      }
      case 'consent': {
        const client = clients.of(operation.client);
        const ladder = new Ladder()
          .check(barred(client, operation), DISPLAYED)
          .check(ended(client.ended, operation.began, operation), DISPLAYED);
        this.#session(ladder, operation.session, operation);
        const stale = this.#overtaken(operation);
        // Its record was deleted: the page is that of an app that is on record no more, or again.
        if (happened(client.forgotten, operation) !== 'no') ladder.check('maybe', DISPLAYED).check('maybe', STALE);
        const consented = connections.of(operation.user, operation.client).consented[operation.endpointSet];
        const live = isAskedEachTime(client) ? 'no' : consented.during(operation, operation);
        // Where the person has consented again elsewhere, that answers the request; or did, and was taken away beside this.
        if (stale !== 'no' && live === 'maybe') ladder.check('maybe', CONSENT);
        return ladder.check(both(stale, opposite(live)), STALE).otherwise(OK);
      }
      case 'redeem': {
        const code = found(codes, operation.code);
        const used = happened(effects(code.redemptions.filter((other) => other !== operation)), operation);
        const ladder = this.#authentication(code.client, operation);
        if (isCrossing(code, operation)) return ladder.otherwise(INVALID_GRANT);
        ladder.check(longerAgo(CODE_LIFE, [code.issued], operation), INVALID_GRANT);
        return this.#verdict(ladder, code, operation, TOKEN_ENDPOINT[operation.at])
          .check(used, INVALID_GRANT)
          .otherwise(OK);
      }
      case 'refresh': {
        const family = found(families, operation.token);
        const ladder = this.#authentication(family.client, operation);
        if (isCrossing(family, operation)) return ladder.otherwise(INVALID_GRANT);
        return this.#verdict(ladder, family, operation, TOKEN_ENDPOINT[operation.at])
          .check(this.#dead(family, operation), INVALID_GRANT)
          .check(this.#reuse(operation), INVALID_GRANT)
          .otherwise(OK);
      }
      case 'userinfo': {
        const family = found(families, operation.access);
        if (isCrossing(family, operation)) return new Ladder().otherwise(INVALID_TOKEN);
        return this.#verdict(new Ladder(), family, operation, USER_INFO[operation.at])
          .check(this.#dead(family, operation), INVALID_TOKEN)
          .otherwise(OK);
      }
      case 'start device':
        return this.#authentication(operation.client, operation).otherwise(OK);
      case 'answer device':
        return this.#answer(operation);
      case 'poll':
        return this.#poll(operation);
      case 'unblock':
        // Where a process was killed, nobody knows whether it was blocked.
        return new Ladder()
          .check(opposite(this.#known.blocked.of(operation.host).during(operation, operation)), NOT_FOUND)
          .otherwise(OK);
      case 'sign out everywhere':
      case 'revoke all':
      case 'revoke': {
        const ladder = new Ladder();
        // By the person, in a browser; or by an operator, who always may, unless the app is on record no more.
        if (operation.session === undefined) {
          const deleted = operation.kind === 'revoke' ? clients.of(operation.client).deleted : [];
          return ladder.check(happened(deleted, operation), NOT_FOUND).otherwise(OK);
        }
        const { user, born } = found(sessions, operation.session);
        const { banned, suspended, secured } = users.of(user);
        const others = secured.filter(({ start }) => start !== operation.start);
        for (const out of [banned.during(operation), suspended.during(operation), ended(others, born, operation)]) {
          ladder.check(out, LOGIN);
        }
        return ladder.otherwise(OK);
      }
      default:
        return new Set([OK]);
    }
  }

  /** RFC 8628 §3.3: a person answers a device; one answer counts. */
  #answer(operation: DeviceAnswer): ReadonlySet<string> {
    const { device, decision, session, client } = operation;
    const { asked, answers } = found(this.#known.devices, device);
    const { banned, suspended, secured } = this.#known.users.of(operation.user);
    const { disabled, ended: ends } = this.#known.clients.of(client);
    const refused = decision === 'deny' ? OK : NOT_CONNECTED;
    const ladder = new Ladder()
      .check(disabled.during(operation), DISPLAYED)
      .check(ended(ends, asked, operation), DISPLAYED)
      .check(banned.during(operation), refused)
      .check(suspended.during(operation), refused)
      .check(ended(secured, found(this.#known.sessions, session).born, operation), LOGIN);
    const others = answers.filter((other) => other !== operation);
    const allowed = happened(effects(others.filter((other) => other.decision === 'allow')), operation);
    const denied = this.#denied(others, operation);
    // A denial is taken whatever was asked.
    const stale = decision === 'deny' ? 'no' : this.#overtaken(operation);
    // The device goes with its client, which the request may have read before.
    ladder.check(beside(this.#known.clients.of(client).deleted, operation), ANSWERED);
    return ladder.check(stale, STALE).check(either(allowed, denied), ANSWERED).otherwise(OK);
  }

  /** Whether a denial had been the answer, if none allowed the device before it. */
  #denied(answers: readonly DeviceAnswer[], at: Moment): Maybe {
    const denials = answers.filter(({ decision }) => decision === 'deny');
    const sure = denials.filter((denial) => {
      const { banned, suspended } = this.#known.users.of(denial.user);
      return banned.during(denial) === 'no' && suspended.during(denial) === 'no';
    });
    if (happened(effects(sure), at) === 'yes') return 'yes';
    return happened(effects(denials), at) === 'no' ? 'no' : 'maybe';
  }

  /** RFC 8628 §3.5. How soon a device asks again is checked elsewhere. */
  #poll(operation: Poll): ReadonlySet<string> {
    const { client, answers } = found(this.#known.devices, operation.device);
    const ladder = this.#authentication(client, operation);
    // The device goes with its client, which the request may have read before.
    ladder.check(beside(this.#known.clients.of(client).deleted, operation), INVALID_GRANT);
    const allowing = answers.filter(({ decision }) => decision === 'allow');
    const allowed = happened(effects(allowing), operation);
    const denied = allowing.some(({ outcome }) => outcome === OK) ? 'no' : this.#denied(answers, operation);
    if (allowed !== 'yes') {
      ladder.check(denied, DENIED_DEVICE);
      if (allowed === 'no') return ladder.check('maybe', SLOW_DOWN).otherwise(PENDING);
      ladder.check('maybe', SLOW_DOWN).check('maybe', PENDING);
    }
    const code = found(this.#known.codes, operation.device);
    const used = happened(effects(code.redemptions.filter((other) => other !== operation)), operation);
    return this.#verdict(ladder, code, operation, TOKEN_ENDPOINT.oidc).check(used, INVALID_GRANT).otherwise(OK);
  }

  /** Decisions §4: who the client is comes before everything about the grant. */
  #authentication(name: string, at: Moment): Ladder {
    const client = this.#known.clients.of(name);
    const unknown = client.by === 'document' ? opposite(client.recorded.during(at)) : 'no';
    return new Ladder().check(barred(client, at), INVALID_CLIENT).check(unknown, INVALID_CLIENT);
  }

  /** Decisions §2: whether access was taken away since a consent page was shown. */
  #overtaken({ user, client, shown, start: sent, end }: Consent | DeviceAnswer): Maybe {
    const { consented, revocations } = this.#known.connections.of(user, client);
    let found: Maybe = 'no';
    for (const revocation of revocations) {
      if (revocation.end <= shown.start || revocation.start >= end) continue;
      const between = revocation.start >= shown.end && revocation.end <= sent;
      // Where there was nothing to take away, nothing was.
      const at = { start: revocation.start, end: revocation.start };
      const held = either(consented.v2.during(at), consented.oidc.during(at));
      if (between && held === 'yes') return 'yes';
      found = 'maybe';
    }
    return found;
  }

  /** Decisions §3: who is signed in. */
  #session(ladder: Ladder, name: string, at: Moment): Ladder {
    const { user, born } = found(this.#known.sessions, name);
    const { banned, suspended, secured } = this.#known.users.of(user);
    return ladder
      .check(banned.during(at), BANNED)
      .check(suspended.during(at), SUSPENDED)
      .check(ended(secured, born, at), LOGIN);
  }

  /** Decisions §5, in its order, up to the family. */
  #verdict(
    ladder: Ladder,
    { user, client, session, asked, issued }: Code,
    at: Moment,
    { invalid, barred }: Refusals,
  ): Ladder {
    const { banned, suspended, secured } = this.#known.users.of(user);
    const { disabled, ended: ends, forgotten } = this.#known.clients.of(client);
    return ladder
      .check(disabled.during(at), invalid)
      .check(ended(forgotten, issued, at), invalid)
      .check(banned.during(at), `${barred} ${MESSAGES.banned}`)
      .check(suspended.during(at), `${barred} ${MESSAGES.suspended}`)
      .check(ended(this.#known.connections.of(user, client).revocations, issued, at), `${barred} ${MESSAGES.revoked}`)
      .check(ended(secured, session.born, at), invalid)
      .check(ended(ends, asked, at), invalid);
  }

  /** Whether a replay of its code or the reuse of one of its refresh tokens had ended a family. */
  #dead({ redemptions, uses }: Code, operation: Operation): Maybe {
    const first = Math.min(...redemptions.filter(({ outcome }) => outcome === OK).map(({ start }) => start));
    // What the client could present and was refused beside or after the redemption was recognised as a second use.
    const replays = redemptions.filter(
      ({ outcome, end }) => !NO_REPLAY.has(outcome) && (isFault(outcome) || end > first),
    );
    const byReplay = happened(
      replays.map((replay) => effect(replay) ?? replay),
      operation,
    );
    if (byReplay === 'yes') return 'yes';
    let found_ = byReplay;
    for (const use of uses) {
      if (use.kind !== 'refresh' || use === operation || use.start >= operation.end) continue;
      const isUnknown = isFault(use.outcome);
      if (use.outcome !== INVALID_GRANT && !isUnknown) continue;
      const reused = this.#reuse(use);
      if (reused === 'yes' && use.end <= operation.start && !isUnknown) return 'yes';
      if (reused !== 'no') found_ = 'maybe';
    }
    return found_;
  }

  /** Decisions §4: whether a refresh token was no longer the live one, nor its direct predecessor within the grace. */
  #reuse(operation: Refresh): Maybe {
    const { refreshes } = this.#known;
    const others = (refreshes.get(operation.token) ?? []).filter((other) => other !== operation);
    const rotations = effects(others).filter(({ start }) => start < operation.end);
    if (rotations.length === 0) return 'no';
    const successors = new Set(others.flatMap(({ refresh, start }) => (start < operation.end && refresh) || []));
    const used = effects([...successors].flatMap((name) => refreshes.get(name) ?? []));
    const byUse = happened(used, operation);
    return byUse === 'yes' ? byUse : either(byUse, longerAgo(GRACE, rotations, operation));
  }
}

/** Decisions §15: whether people are asked each time. */
const isAskedEachTime = ({ by }: Client): boolean => by === 'itself' || by === 'document';

/** Whether a client is disabled, or its domain blocked. */
const barred = ({ disabled, blocked }: Client, at: Moment): Maybe => either(disabled.during(at), blocked.during(at));

/** When each of these did what it asked, as far as it may have. */
const effects = (operations: readonly Operation[]): Moment[] =>
  operations.flatMap((operation) => effect(operation) ?? []);

/** Whether one of these events may have come in the middle of an operation. */
const beside = (events: readonly Moment[], { start, end }: Moment): Maybe =>
  events.some((event) => event.end > start && event.start < end) ? 'maybe' : 'no';

const opposite = (holds: Maybe): Maybe => (holds === 'maybe' ? holds : holds === 'yes' ? 'no' : 'yes');
const both = (one: Maybe, other: Maybe): Maybe => opposite(either(opposite(one), opposite(other)));
const either = (one: Maybe, other: Maybe): Maybe =>
  one === 'yes' || other === 'yes' ? 'yes' : one === 'maybe' || other === 'maybe' ? 'maybe' : 'no';

/** Whether the first of these events was longer ago than so many milliseconds. */
function longerAgo(milliseconds: number, events: readonly Moment[], use: Moment): Maybe {
  const earliest = Math.min(...events.map(({ start }) => start));
  const latest = Math.min(...events.map(({ end }) => end));
  if (use.start - latest >= milliseconds + SLACK) return 'yes';
  return use.end - earliest >= milliseconds - SLACK ? 'maybe' : 'no';
}
