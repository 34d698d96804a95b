import { Switch } from './facts.ts';
import { type EndpointSet, type Moment, OK, type Operation, type RegisteredBy } from './history.ts';

type Of<K extends Operation['kind']> = Extract<Operation, { kind: K }>;
export type Consent = Of<'consent'>;
export type DeviceAnswer = Of<'answer device'>;
export type Poll = Of<'poll'>;
/** A device exchanges its code by a poll. */
export type Redemption = Of<'redeem' | 'poll'>;
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
  /** When the authorization request came, or the device asked: the code inherits what the client was then. */
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

export interface Client {
  by: RegisteredBy;
  host: string | undefined;
  readonly disabled: Switch;
  /** Shared by those of a host. */
  blocked: Switch;
  readonly ended: Moment[];
  /** Of a metadata document: whether somebody has allowed it since it was last deleted. */
  readonly recorded: Switch;
  readonly deleted: Moment[];
  /** When the record of a metadata document was deleted, which a later consent writes again: what was issued before stays dead. */
  readonly forgotten: Moment[];
}

/** A device that asked (RFC 8628). */
interface Device {
  readonly client: string;
  readonly asked: Moment;
  readonly answers: DeviceAnswer[];
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
  readonly devices: ReadonlyMap<string, Device>;
  /** By their hosts. */
  readonly blocked: Register<Switch>;
  /** Device codes are among them once somebody has allowed the device. */
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

/** A client that is deleted: an app that an operator registered, or itself, does not come back. */
function remove(client: Client, at: Moment): void {
  client.deleted.push(at);
  if (client.by === 'document') {
    client.forgotten.push(at);
    client.recorded.add({ ...at, to: false });
    return;
  }
  client.disabled.add({ ...at, to: true });
  client.ended.push(at);
}

/** @param history in the order of the starts */
export function know(history: readonly Operation[]): Known {
  const users = new Register<User>(() => ({ banned: new Switch(), suspended: new Switch(), secured: [] }));
  const blocked = new Register<Switch>(() => new Switch());
  const clients = new Register<Client>(() => ({
    ...{ by: 'operator', host: undefined, ended: [], deleted: [], forgotten: [] },
    ...{ disabled: new Switch(), blocked: new Switch(), recorded: new Switch() },
  }));
  const connections = new Register<Connection>(() => ({
    consented: { v2: new Switch(), oidc: new Switch() },
    revocations: [],
  }));
  const sessions = new Map<string, Session>();
  const devices = new Map<string, Device>();
  const codes = new Map<string, Code>();
  const families = new Map<string, Code>();
  const refreshes = new Map<string, Refresh[]>();

  function revoke(user: string, client: string, at: Moment): void {
    const { consented, revocations } = connections.of(user, client);
    for (const each of Object.values(consented)) each.add({ ...at, to: false });
    revocations.push(at);
  }

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
      case 'delete':
        remove(clients.of(operation.client), at);
        break;
      case 'block':
        for (const client of ofHost(operation.host)) {
          client.ended.push(at);
          // Only what names itself by its document is asked about again once the domain is unblocked.
          if (client.by === 'itself') client.disabled.add({ ...at, to: true });
        }
        blocked.of(operation.host).add({ ...at, to: true });
        break;
      case 'unblock':
        blocked.of(operation.host).add({ ...at, to: false });
        break;
      case 'consent':
        connections.of(operation.user, operation.client).consented[operation.endpointSet].add({ ...at, to: true });
        clients.of(operation.client).recorded.add({ ...at, to: true });
        break;
      case 'answer device':
        if (operation.decision === 'deny') break;
        connections.of(operation.user, operation.client).consented.oidc.add({ ...at, to: true });
        break;
      case 'revoke':
        // It names the record that was deleted, and leaves one that was made since alone.
        if (clients.of(operation.client).forgotten.length > 0) break;
        revoke(operation.user, operation.client, at);
        break;
      case 'revoke all':
        for (const client of names) revoke(operation.user, client, at);
        break;
      case 'sign in':
        if (operation.session !== undefined) {
          sessions.set(operation.session, { user: operation.user, born: at, uses: [] });
        }
        break;
    }
  }

  const names = new Set(history.flatMap((operation) => ('client' in operation ? operation.client : [])));
  const ofHost = (host: string) => [...names].map((name) => clients.of(name)).filter((client) => client.host === host);
  for (const operation of history) {
    if (operation.kind === 'register') {
      const client = clients.of(operation.client);
      Object.assign(client, { by: operation.by, host: operation.host });
      if (operation.by === 'document') client.blocked = blocked.of(operation.host ?? '');
    }
    if (operation.kind === 'start device' && operation.device !== undefined) {
      const { client, start, end } = operation;
      devices.set(operation.device, { client, asked: { start, end }, answers: [] });
    }
  }
  for (const operation of history) {
    const at = effect(operation);
    if (at !== undefined) note(operation, at);
  }
  for (const operation of history) {
    if (operation.kind !== 'answer device') continue;
    const { device: name, user, client, decision } = operation;
    const device = found(devices, name);
    const session = found(sessions, operation.session);
    const issued = effect(operation);
    device.answers.push(operation);
    if (decision === 'deny' || issued === undefined || (codes.has(name) && operation.outcome !== OK)) continue;
    const { asked } = device;
    const none = { redemptions: [], uses: [] };
    codes.set(name, { name, user, client, endpointSet: 'oidc', session, asked, issued, ...none });
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
    if (operation.kind !== 'redeem' && operation.kind !== 'poll') continue;
    // A device asks before somebody has allowed it as well.
    const code = operation.kind === 'redeem' ? found(codes, operation.code) : codes.get(operation.device);
    if (code === undefined) continue;
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
  return { users, clients, connections, sessions, devices, blocked, codes, families, refreshes };
}
