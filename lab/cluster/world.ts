import { setTimeout as pause } from 'node:timers/promises';
import { PASSWORD } from '../../test/support/flow.ts';
import type { Random } from '../../test/support/random.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { type Read, readDeed, readJson, readPage, readRedirect, readSignIn, readTokens } from './answers.ts';
import { type App, authorizeQuery, credentialsOf, makeApp, type Publication, VERIFIER } from './apps.ts';
import { agentCookies, getPage, hiddenFields, postForm } from './browser.ts';
import {
  type AccountEvent,
  type Asked,
  type EndpointSet,
  type Moment,
  OK,
  type Operation,
  type RegisteredBy,
} from './history.ts';
import { admin, postJson, userInfo, type Wire, type WireAnswer } from './wire.ts';

export interface Session {
  readonly name: string;
  readonly cookie: string;
  /** For the forms of the account; undefined where the session was dead before its first page came. */
  readonly formToken: string | undefined;
}

export interface Person {
  readonly name: string;
  readonly id: string;
  readonly username: string;
  readonly cookie: string;
  readonly signInForm: Readonly<Record<string, string>>;
  session: Session | undefined;
  /** What bars the account, and what is being done to it: the same switch is never moved by two at once. */
  readonly barredBy: Set<string>;
  readonly busyWith: Set<string>;
}

/** A code, or the device code of an answered device. */
export interface Code {
  readonly name: string;
  readonly text: string;
  readonly person: Person;
  readonly app: App;
  readonly endpointSet: EndpointSet;
}

/** The tokens of one family, each list in the order in which they came. */
export interface Family {
  readonly code: Code;
  readonly access: Token[];
  readonly refresh: Token[];
}

export interface Token {
  readonly name: string;
  readonly text: string;
}

const PATHS = {
  v2: '/api/v2/oauth',
  oidc: '/oidc',
} as const satisfies Record<EndpointSet, string>;
/** The people and apps of one stretch of a run, and all that they do: every request is written into the history. */
export class World {
  readonly history: Operation[] = [];
  readonly codes: Code[] = [];
  readonly families: Family[] = [];
  readonly #wires: readonly Wire[];
  readonly #clock: () => number;
  readonly #random: Random;
  readonly #label: string;
  readonly #names = new Map<string, string>();
  readonly #count = { operations: 0, people: 0, apps: 0 };
  /** Whether what comes before the history is tried again where it has no answer. */
  readonly #isPatient: boolean;
  /** Where apps publish their metadata documents. */
  readonly #publication: Publication | undefined;

  constructor(
    wires: readonly Wire[],
    clock: () => number,
    random: Random,
    label: string,
    { isPatient = false, publication }: { isPatient?: boolean; publication?: Publication } = {},
  ) {
    this.#isPatient = isPatient;
    this.#publication = publication;
    this.#wires = wires;
    this.#clock = clock;
    this.#random = random;
    this.#label = label;
  }

  /** Names a text; the same text has the same name. */
  nameOf(kind: string, text: string): string {
    const name = this.#names.get(text) ?? `${kind}${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }

  /** A node other than this one; any, where none is given. */
  node(other?: number): number {
    const count = this.#wires.length;
    if (other === undefined || count === 1) return this.#random.below(count);
    return (other + 1 + this.#random.below(count - 1)) % count;
  }

  wire = (): Wire => this.#wires[this.node()] as Wire;

  /** Sends a request, and writes it into the history. */
  async perform<R extends Read>(
    asked: Asked | ((read: Read) => Asked),
    send: (wire: Wire) => Promise<WireAnswer>,
    read: (answer: WireAnswer) => R,
    node = this.node(),
  ): Promise<R & { operation: Operation }> {
    const wire = this.#wires[node] as Wire;
    const start = this.#clock();
    let found: R;
    try {
      found = read(await send(wire));
    } catch (error) {
      found = { outcome: `no answer: ${error}` } as R;
    }
    const end = this.#clock();
    // While nobody listens, no answer comes at once, and the history would be of nothing else.
    if (this.#isPatient && found.outcome.includes('ECONNREFUSED')) await pause(20);
    const what = typeof asked === 'function' ? asked(found) : asked;
    const operation: Operation = {
      number: this.#count.operations++,
      node,
      start,
      end,
      outcome: found.outcome,
      ...what,
    };
    this.history.push(operation);
    return { ...found, operation };
  }

  /** Makes something as an operator, before the history begins. */
  async make(path: string, body: unknown): Promise<Record<string, string>> {
    const answer = await admin(this.wire(), ADMIN_KEY, 'POST', path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }

  /** Does something that no history is of, until it succeeds where processes are killed. */
  async tryAgain<T>(make: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        if (!this.#isPatient) throw error;
        await pause(100);
      }
    }
  }

  newPerson = (): Promise<Person> => this.tryAgain(() => this.#newPerson());
  newApp = (by: RegisteredBy = 'operator'): Promise<App> =>
    this.tryAgain(() => {
      const name = `c${this.#count.apps++}`;
      return makeApp(this, by, { name, title: this.titleOf(name), publication: this.#publication });
    });
  titleOf = (name: string): string => `${this.#label}-${name}`;

  async #newPerson(): Promise<Person> {
    const name = `u${this.#count.people++}`;
    const username = `${this.#label}-${name}`;
    const profile = { username, displayName: username, email: `${username}@example.com`, password: PASSWORD };
    const { id = '' } = await this.make('/users', profile);
    const page = await getPage(this.wire(), '/login', '');
    if (page.status !== 200) throw new Error(`/login: ${page.status}`);
    const cookie = agentCookies(page).get('__Host-tessera_browser') ?? '';
    const signInForm = hiddenFields(page, '/login') ?? {};
    const nothing = { session: undefined, barredBy: new Set<string>(), busyWith: new Set<string>() };
    return { name, id, username, cookie, signInForm, ...nothing };
  }

  async signIn(person: Person): Promise<void> {
    const { name: user, username: identifier, cookie, signInForm } = person;
    const fields = { ...signInForm, identifier, password: PASSWORD };
    const done = await this.perform(
      ({ cookie: text }) => ({
        ...{ kind: 'sign in', user },
        ...(text !== undefined && { session: this.nameOf('s', text) }),
      }),
      (wire) => postForm(wire, '/login', cookie, fields),
      readSignIn,
    );
    if (done.cookie === undefined) return;
    const session = { name: this.nameOf('s', done.cookie), cookie: `${cookie}; ${done.cookie}` };
    const page = await this.perform(
      { kind: 'page' },
      (wire) => getPage(wire, '/account/security', session.cookie),
      (answer) => ({
        ...readPage(answer),
        token: hiddenFields(answer, '/account/sign-out-everywhere')?.['form_token'],
      }),
    );
    if (page.outcome === OK) person.session = { ...session, formToken: page.token };
  }

  /** An authorization request, with its consent page where one comes: its own outcome, and the code, if one came in the end. */
  async authorize(
    person: Person,
    app: App,
    endpointSet: EndpointSet = 'v2',
  ): Promise<{ outcome: string; code?: Code | undefined }> {
    const { session, name: user } = person;
    if (session === undefined) return { outcome: 'no session' };
    const asked = { user, client: app.name, endpointSet, session: session.name };
    const withCode = ({ code }: Read) => (code === undefined ? {} : { code: this.nameOf('k', code) });
    const path = `${PATHS[endpointSet]}/authorize?${authorizeQuery(app)}`;
    const first = await this.perform(
      (read) => ({ kind: 'authorize', ...asked, ...withCode(read) }),
      (wire) => getPage(wire, path, session.cookie),
      (answer) => ({ ...readRedirect(answer), location: String(answer.headers['location']) }),
    );
    if (first.outcome === 'login' && person.session === session) person.session = undefined;
    const { outcome } = first;
    if (outcome !== 'consent') return { outcome, code: this.keep(first.code, { person, app, endpointSet }) };
    const page = await this.perform(
      { kind: 'page' },
      (wire) => getPage(wire, first.location, session.cookie),
      (answer) => ({ ...readPage(answer), form: hiddenFields(answer, '/consent') }),
    );
    if (page.form === undefined) return { outcome };
    const fields = { ...page.form, decision: 'allow', 'allow email': 'on' };
    const moment = ({ start, end }: Moment): Moment => ({ start, end });
    const [began, shown] = [moment(first.operation), moment(page.operation)];
    const second = await this.perform(
      (read) => ({ kind: 'consent', ...asked, began, shown, ...withCode(read) }),
      (wire) => postForm(wire, '/consent', session.cookie, fields),
      readRedirect,
    );
    return { outcome, code: this.keep(second.code, { person, app, endpointSet }) };
  }

  keep(text: string | undefined, of: Pick<Code, 'person' | 'app' | 'endpointSet'>, kind = 'k'): Code | undefined {
    if (text === undefined) return undefined;
    const code = { name: this.nameOf(kind, text), text, ...of };
    this.codes.push(code);
    return code;
  }

  /** @param at the set of endpoints of the token endpoint */
  async redeem(code: Code, node?: number, at = code.endpointSet): Promise<string> {
    const { app } = code;
    const body = {
      grant_type: 'authorization_code',
      ...{ code: code.text, redirect_uri: app.redirectUri },
      ...credentialsOf(app),
      ...(app.secret === undefined && { code_verifier: VERIFIER }),
    };
    const done = await this.perform(
      (read) => ({ kind: 'redeem', at, code: code.name, ...this.tokensOf(read) }),
      (wire) => postJson(wire, `${PATHS[at]}/token`, body),
      readTokens,
      node,
    );
    this.begin(code, done);
    return done.outcome;
  }

  /** Keeps the tokens that a code or a device got. */
  begin(code: Code, read: Read): void {
    if (read.access === undefined || read.refresh === undefined) return;
    const family: Family = { code, access: [], refresh: [] };
    this.families.push(family);
    this.#take(family, read);
  }

  /** @param at the set of endpoints of the token endpoint */
  async refresh(family: Family, token: Token, node?: number, at = family.code.endpointSet): Promise<string> {
    const { app } = family.code;
    const body = {
      ...{ grant_type: 'refresh_token', refresh_token: token.text },
      ...credentialsOf(app),
    };
    const done = await this.perform(
      (read) => ({ kind: 'refresh', at, token: token.name, ...this.tokensOf(read) }),
      (wire) => postJson(wire, `${PATHS[at]}/token`, body),
      readTokens,
      node,
    );
    this.#take(family, done);
    return done.outcome;
  }

  tokensOf({ access, refresh }: Read) {
    if (access === undefined || refresh === undefined) return {};
    return { access: this.nameOf('a', access), refresh: this.nameOf('r', refresh) };
  }

  #take(family: Family, read: Read): void {
    for (const kind of ['access', 'refresh'] as const) {
      const text = read[kind];
      if (text === undefined || family[kind].some((known) => known.text === text)) continue;
      family[kind].push({ name: this.nameOf(kind[0] as string, text), text });
    }
  }

  /** @param at the set of endpoints of the UserInfo endpoint */
  async look(token: Token, at: EndpointSet = 'v2', node?: number): Promise<string> {
    const asked = { kind: 'userinfo', at, access: token.name } as const;
    return (await this.perform(asked, (wire) => userInfo(wire, `${PATHS[at]}/userinfo`, token.text), readJson, node))
      .outcome;
  }

  /** An operator's doing. Answers where it was done, if it was. */
  #byOperator(asked: Asked, method: string, path: string, body?: unknown): Promise<number | undefined> {
    return this.#node(asked, (wire) => admin(wire, ADMIN_KEY, method, path, body));
  }

  async #node(asked: Asked, send: (wire: Wire) => Promise<WireAnswer>): Promise<number | undefined> {
    const done = await this.perform(asked, send, readJson);
    return done.outcome === 'ok' ? done.operation.node : undefined;
  }

  ban = (person: Person) => this.#toUser('ban', person, 'PUT', '/ban', {});
  unban = (person: Person) => this.#toUser('unban', person, 'DELETE', '/ban');
  suspend = (person: Person) => this.#toUser('suspend', person, 'PUT', '/suspension', {});
  reinstate = (person: Person) => this.#toUser('reinstate', person, 'DELETE', '/suspension');
  newPassword = (person: Person) => this.#toUser('new password', person, 'PATCH', '', { password: PASSWORD });

  #toUser(kind: AccountEvent, { name, id }: Person, method: string, path: string, body?: unknown) {
    return this.#byOperator({ kind, user: name }, method, `/users/${id}${path}`, body);
  }

  async setStatus(app: App, status: 'active' | 'disabled'): Promise<number | undefined> {
    const kind = status === 'active' ? 'enable' : 'disable';
    return this.#byOperator({ kind, client: app.name }, 'PATCH', `/clients/${app.id}`, { status });
  }

  /** By an operator, or by the app itself where it may. */
  remove({ name: client, id, registrationToken }: App): Promise<number | undefined> {
    const asked = { kind: 'delete', client } as const;
    if (registrationToken === undefined) return this.#byOperator(asked, 'DELETE', `/clients/${id}`);
    const headers = { authorization: `Bearer ${registrationToken}` };
    return this.#node(asked, (wire) => wire.send('DELETE', `/oidc/register/${id}`, headers));
  }

  block = (host: string) => this.#byOperator({ kind: 'block', host }, 'PUT', `/blocked-domains/${host}`);
  /** Answers whether the domain is not blocked now: where a process was killed, it may never have been. */
  async unblock(host: string): Promise<boolean> {
    const path = `/blocked-domains/${host}`;
    const send = (wire: Wire) => admin(wire, ADMIN_KEY, 'DELETE', path);
    const { outcome } = await this.perform({ kind: 'unblock', host }, send, readJson);
    return outcome === OK || outcome.startsWith('404 ');
  }

  /** By an operator, or by the person where there is a session to do it with. */
  async revoke(person: Person, app: App, session?: Session): Promise<number | undefined> {
    const asked = { kind: 'revoke', user: person.name, client: app.name } as const;
    if (session === undefined) return this.#byOperator(asked, 'DELETE', `/users/${person.id}/connections/${app.id}`);
    return this.#byPerson(asked, session, '/account/connections', { client_id: app.id });
  }

  /** What the connections page offers for all apps at once. */
  revokeAll = ({ name: user }: Person, session: Session) =>
    this.#byPerson({ kind: 'revoke all', user, session: session.name }, session, '/account/connections', {
      all: 'yes',
    });

  signOutEverywhere = (person: Person, session: Session) =>
    this.#byPerson({ kind: 'sign out everywhere', user: person.name }, session, '/account/sign-out-everywhere', {});

  async #byPerson(
    asked: Asked & { kind: 'revoke' | 'revoke all' | 'sign out everywhere' },
    { name, cookie, formToken = '' }: Session,
    path: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<number | undefined> {
    const form = { form_token: formToken, ...fields };
    const done = await this.perform(
      { ...asked, session: name },
      (wire) => postForm(wire, path, cookie, form),
      readDeed,
    );
    return done.outcome === 'ok' ? done.operation.node : undefined;
  }

  /** Something that is about no user, and must not affect any. */
  async aside(kind: 'rotate keys', work: () => Promise<boolean>): Promise<void> {
    const answer = async () => ({ status: (await work()) ? 200 : 500, headers: {}, text: '' });
    await this.perform({ kind }, answer, readPage);
  }
}
