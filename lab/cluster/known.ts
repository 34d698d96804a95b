import { Switch } from './facts.ts';
import { type EndpointSet, type Moment, OK, type Operation } from './history.ts';

type Of<K extends Operation['kind']> = Extract<Operation, { kind: K }>;
export type Consent = Of<'consent'>;
export type Redemption = Of<'redeem'>;
export type Refresh = Of<'refresh'>;
export type Use = Of<'refresh' | 'userinfo'>;

interface Session {
  readonly user: string;
  readonly born: Moment;
  readonly uses: Operation[];
}

export interface Code {
  readonly name: string;
  readonly user: string;
  readonly client: string;
  readonly endpointSet: EndpointSet;
  readonly session: Session;
  /** When the authorization request came: the code inherits what the client was then. */
  readonly asked: Moment;
  readonly issued: Moment;
  readonly redemptions: Redemption[];
  /** Of the tokens that came of it: there is at most one family. */
  readonly uses: Use[];
}

interface User {
  readonly banned: Switch;
  readonly suspended: Switch;
  /** Each ended all that was signed in before: decisions §5, generations. */
  readonly secured: Moment[];
}

interface Client {
  readonly disabled: Switch;
  readonly ended: Moment[];
}

interface Connection {
  /** Each set of endpoints is consented to alone; taking access away ends both. */
  readonly consented: Readonly<Record<EndpointSet, Switch>>;
  readonly revocations: Moment[];
}

/** A history by what it is about. */
export interface Known {
  readonly users: Register<User>;
  readonly clients: Register<Client>;
  readonly connections: Register<Connection>;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly codes: ReadonlyMap<string, Code>;
  /** The code that a token came of in the end. */
  readonly families: ReadonlyMap<string, Code>;
  /** The uses of each refresh token. */
  readonly refreshes: ReadonlyMap<string, readonly Refresh[]>;
}

/** Things by their names, each made when it is first asked for. */
class Register<T> {
  readonly #things = new Map<string, T>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  of(...names: readonly string[]): T {
    const name = names.join(' ');
    let thing = this.#things.get(name);
    if (thing === undefined) {
      thing = this.#make();
      this.#things.set(name, thing);
    }
    return thing;
  }
}

export function found<T>(things: ReadonlyMap<string, T>, name: string): T {
  const thing = things.get(name);
  if (thing === undefined) throw new Error(`the history does not say where ${name} comes from`);
  return thing;
}

/** When a request did what it asked; undefined where it surely did nothing. Where it failed, its end is unknown. */
export function effect({ outcome, start, end }: Operation): Moment | undefined {
  if (outcome === OK) return { start, end };
  return isFault(outcome) ? { start, end: Number.POSITIVE_INFINITY } : undefined;
}

export const isFault = (outcome: string): boolean =>
  /^5\d\d|^no answer|temporarily_unavailable|server_error/.test(outcome);

/**
 * Decisions §10: whether something was presented at the wrong set of endpoints, which says nothing of it and does nothing to it.
 * UserInfo of the OIDC endpoints accepts tokens of both.
 */
export const isCrossing = ({ endpointSet }: Code, { kind, at }: Redemption | Use): boolean =>
  at !== endpointSet && !(kind === 'userinfo' && at === 'oidc');

/** @param history in the order of the starts */
export function know(history: readonly Operation[]): Known {
  const users = new Register<User>(() => ({ banned: new Switch(), suspended: new Switch(), secured: [] }));
  const clients = new Register<Client>(() => ({ disabled: new Switch(), ended: [] }));
  const connections = new Register<Connection>(() => ({
    consented: { v2: new Switch(), oidc: new Switch() },
    revocations: [],
  }));
  const sessions = new Map<string, Session>();
  const codes = new Map<string, Code>();
  const families = new Map<string, Code>();
  const refreshes = new Map<string, Refresh[]>();

  function note(operation: Operation, at: Moment): void {
    switch (operation.kind) {
      case 'ban':
      case 'suspend':
      case 'sign out everywhere':
      case 'new password': {
        const user = users.of(operation.user);
        user.secured.push(at);
        if (operation.kind === 'ban') user.banned.add({ ...at, to: true });
        if (operation.kind === 'suspend') user.suspended.add({ ...at, to: true });
        break;
      }
      case 'unban':
        users.of(operation.user).banned.add({ ...at, to: false });
        break;
      case 'reinstate':
        users.of(operation.user).suspended.add({ ...at, to: false });
        break;
      case 'disable':
        clients.of(operation.client).disabled.add({ ...at, to: true });
        clients.of(operation.client).ended.push(at);
        break;
      case 'enable':
        clients.of(operation.client).disabled.add({ ...at, to: false });
        break;
      case 'revoke':
      case 'consent': {
        const connection = connections.of(operation.user, operation.client);
        if (operation.kind === 'consent') {
          connection.consented[operation.endpointSet].add({ ...at, to: true });
          break;
        }
        for (const consented of Object.values(connection.consented)) consented.add({ ...at, to: false });
        connection.revocations.push(at);
        break;
      }
      case 'sign in':
        if (operation.session !== undefined) {
          sessions.set(operation.session, { user: operation.user, born: at, uses: [] });
        }
        break;
    }
  }

  for (const operation of history) {
    const at = effect(operation);
    if (at !== undefined) note(operation, at);
  }
  // What was made is known before what was made of it, also where that was used before the answer was whole.
  for (const operation of history) {
    if (operation.kind !== 'authorize' && operation.kind !== 'consent') continue;
    const { user, client, endpointSet, code, start, end } = operation;
    const session = found(sessions, operation.session);
    session.uses.push(operation);
    if (code === undefined) continue;
    const asked = operation.kind === 'consent' ? operation.began : operation;
    codes.set(code, {
      ...{ name: code, user, client, endpointSet, session, issued: { start, end }, redemptions: [], uses: [] },
      asked: { start: asked.start, end: asked.end },
    });
  }
  for (const operation of history) {
    if (operation.kind !== 'redeem') continue;
    const code = found(codes, operation.code);
    if (operation.at === code.endpointSet) code.redemptions.push(operation);
    for (const token of [operation.access, operation.refresh]) if (token !== undefined) families.set(token, code);
  }
  for (const operation of history) {
    if (operation.kind !== 'refresh') continue;
    const family = found(families, operation.token);
    if (operation.at === family.endpointSet) {
      refreshes.set(operation.token, [...(refreshes.get(operation.token) ?? []), operation]);
    }
    for (const token of [operation.access, operation.refresh]) if (token !== undefined) families.set(token, family);
  }
  for (const operation of history) {
    if (operation.kind !== 'refresh' && operation.kind !== 'userinfo') continue;
    const family = found(families, operation.kind === 'refresh' ? operation.token : operation.access);
    if (!isCrossing(family, operation)) family.uses.push(operation);
  }
  return { users, clients, connections, sessions, codes, families, refreshes };
}
