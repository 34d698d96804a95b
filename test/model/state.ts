/**
 * What the model remembers. Its parts point at each other, and a generation is a number that is never given twice.
 * Instants are in milliseconds; the ends of JWTs, as in the JWTs themselves, in whole seconds.
 */
export interface State {
  now: number;
  nextGeneration: number;
  readonly users: User[];
  readonly clients: Client[];
  readonly browsers: Browser[];
  readonly grants: Grant[];
  /** Every time that a person took an app's access away. */
  readonly revocations: { readonly user: User; readonly client: Client }[];
  readonly organizations: Organization[];
  readonly groups: Group[];
  /** What has ended is in neither list. */
  readonly memberships: Membership[];
  readonly assignments: Assignment[];
  readonly pending: Pending[];
  readonly codes: Code[];
  readonly families: Family[];
  readonly access: AccessToken[];
  readonly refresh: RefreshToken[];
}

/** Decisions §10: which endpoints, the contract's or the standards'. */
export type EndpointSet = 'v2' | 'oidc';

export interface User {
  readonly index: number;
  exists: boolean;
  generation: number;
  /** 0 is not banned, Infinity is for ever. */
  bannedUntil: number;
  suspended: boolean;
  /** Whether the person has proved the address. */
  verified: boolean;
}

export interface Client {
  readonly index: number;
  enabled: boolean;
  access: 'everyone' | 'assigned';
  generation: number;
  readonly secrets: { until: number }[];
}

/** The ids are the service's own. */
export interface Organization {
  readonly kind: 'organization';
  readonly id: string;
}

export interface Group {
  readonly kind: 'group';
  readonly id: string;
  readonly organization: Organization | undefined;
}

export interface Membership {
  readonly user: User;
  readonly of: Group | Organization;
  ended: boolean;
}

export interface Assignment {
  readonly id: string;
  readonly client: Client;
  readonly to: User | Group | Organization;
  role: string | null;
  ended: boolean;
}

/** By what a person may use an app that is open to assigned people only. */
export interface Path {
  readonly assignment: Assignment;
  /** Undefined where the person is assigned. */
  readonly membership: Membership | undefined;
}

/** A browser is one person's; a person may have several. */
export interface Browser {
  readonly index: number;
  readonly user: User;
  session: Session | undefined;
}

export interface Session {
  readonly generation: number;
  readonly began: number;
  /** The last use that surely counts against idleness, and the last one that may count. */
  used: number;
  touched: number;
}

/** Each set of endpoints has its own. */
export interface Grant {
  readonly endpointSet: EndpointSet;
  readonly user: User;
  readonly client: Client;
  readonly scopes: Set<string>;
  readonly declined: Set<string>;
  /** The scopes without a switch that were part of a decision. */
  readonly fixed: Set<string>;
  /** Whether the page comes whatever was decided before. */
  askAgain: boolean;
  revoked: boolean;
}

export interface Request {
  readonly endpointSet: EndpointSet;
  readonly client: Client;
  readonly clientGeneration: number;
  /** Those that have a switch on the page. */
  readonly scopes: readonly string[];
  /** Those that have none: `openid`, `offline_access`. */
  readonly fixed: readonly string[];
  /** `prompt=consent`. */
  readonly always: boolean;
  /** Which of the client's redirect URIs. */
  readonly redirect: number;
  readonly pkce: boolean;
}

/** A consent page that is still open. */
export interface Pending {
  readonly browser: Browser;
  readonly request: Request;
  readonly asked: readonly string[];
  /** How often the person had taken the app's access away when it was opened. */
  readonly revocations: number;
  readonly expires: number;
}

/** What every code and token inherits. */
export interface Stand {
  readonly endpointSet: EndpointSet;
  readonly user: User;
  readonly client: Client;
  readonly grant: Grant;
  readonly userGeneration: number;
  readonly clientGeneration: number;
  /** Undefined where the app was open to everyone. */
  readonly path: Path | undefined;
}

export interface Code extends Stand {
  scopes: readonly string[];
  readonly fixed: readonly string[];
  readonly redirect: number;
  readonly pkce: boolean;
  readonly expires: number;
  /** The session with which it ends, and its family too: decisions §10. */
  readonly session: Session | undefined;
  /** Ended with its session before it was redeemed. */
  dropped: boolean;
  family: Family | undefined;
}

export interface Family extends Stand {
  /** They only ever shrink. */
  scopes: readonly string[];
  readonly fixed: readonly string[];
  readonly ends: number;
  readonly session: Session | undefined;
  dead: boolean;
  /** Another one, where the person has one when this is taken away. */
  path: Path | undefined;
  leaf: RefreshToken | undefined;
  predecessor: RefreshToken | undefined;
  rotated: number;
}

export interface AccessToken {
  readonly family: Family;
  /** What it says; it gives what its family still has of that. */
  readonly scopes: readonly string[];
  readonly fixed: readonly string[];
  readonly expires: number;
}

export interface RefreshToken {
  readonly family: Family;
  readonly expires: number;
}

export function newState(now: number, users: number, clients: number, owners: readonly number[]): State {
  const state: State = {
    now,
    nextGeneration: 1,
    users: [],
    clients: [],
    browsers: [],
    grants: [],
    revocations: [],
    organizations: [],
    groups: [],
    memberships: [],
    assignments: [],
    pending: [],
    codes: [],
    families: [],
    access: [],
    refresh: [],
  };
  for (let index = 0; index < users; index++) {
    state.users.push({
      index,
      exists: true,
      generation: fresh(state),
      bannedUntil: 0,
      suspended: false,
      verified: false,
    });
  }
  for (let index = 0; index < clients; index++) {
    state.clients.push({
      index,
      enabled: true,
      access: 'everyone',
      generation: fresh(state),
      secrets: [{ until: Number.POSITIVE_INFINITY }],
    });
  }
  for (const [index, owner] of owners.entries()) {
    state.browsers.push({ index, user: pick(state.users, owner), session: undefined });
  }
  return state;
}

export const fresh = (state: State): number => state.nextGeneration++;

/** The one of a list that a number stands for, whatever the number. */
export function pick<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  if (found === undefined) throw new Error('picked from an empty list');
  return found;
}
