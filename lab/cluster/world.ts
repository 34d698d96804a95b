import { setTimeout as pause } from 'node:timers/promises';
import { PASSWORD } from '../../test/support/flow.ts';
import type { Random } from '../../test/support/random.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { type Read, readDeed, readJson, readPage, readRedirect, readSignIn, readTokens } from './answers.ts';
import { agentCookies, getPage, hiddenFields, postForm } from './browser.ts';
import { type AccountEvent, type Asked, type EndpointSet, type Moment, OK, type Operation } from './history.ts';
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

export interface App {
  readonly name: string;
  readonly id: string;
  readonly secret: string;
  disabled: boolean;
  busy: boolean;
}

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

const REDIRECT_URI = 'https://app.example.com/callback';
const PATHS = {
  v2: '/api/v2/oauth',
  oidc: '/oidc',
} as const satisfies Record<EndpointSet, string>;
// With offline_access, no family of the OIDC endpoints ends with its session.
const AUTHORIZE = `authorize?${new URLSearchParams({
  response_type: 'code',
  redirect_uri: REDIRECT_URI,
  scope: 'openid email offline_access',
  state: 'st4te',
})}`;

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

  constructor(wires: readonly Wire[], clock: () => number, random: Random, label: string, isPatient = false) {
    this.#isPatient = isPatient;
    this.#wires = wires;
    this.#clock = clock;
    this.#random = random;
    this.#label = label;
  }

  /** Names a text; the same text has the same name. */
  #name(kind: string, text: string): string {
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

  async #do<R extends Read>(
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

  async #make(path: string, body: unknown): Promise<Record<string, string>> {
    const answer = await admin(this.#wires[this.node()] as Wire, ADMIN_KEY, 'POST', path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }

  async #tryAgain<T>(make: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        if (!this.#isPatient) throw error;
        await pause(100);
      }
    }
  }

  newPerson = (): Promise<Person> => this.#tryAgain(() => this.#newPerson());
  newApp = (): Promise<App> => this.#tryAgain(() => this.#newApp());

  async #newPerson(): Promise<Person> {
    const name = `u${this.#count.people++}`;
    const username = `${this.#label}-${name}`;
    const profile = { username, displayName: username, email: `${username}@example.com`, password: PASSWORD };
    const { id = '' } = await this.#make('/users', profile);
    const page = await getPage(this.#wires[this.node()] as Wire, '/login', '');
    if (page.status !== 200) throw new Error(`/login: ${page.status}`);
    const cookie = agentCookies(page).get('__Host-tessera_browser') ?? '';
    const signInForm = hiddenFields(page, '/login') ?? {};
    const nothing = { session: undefined, barredBy: new Set<string>(), busyWith: new Set<string>() };
    return { name, id, username, cookie, signInForm, ...nothing };
  }

  async #newApp(): Promise<App> {
    const name = `c${this.#count.apps++}`;
    const { clientId = '', clientSecret = '' } = await this.#make('/clients', {
      name: this.#label,
      redirectUris: [REDIRECT_URI],
    });
    return { name, id: clientId, secret: clientSecret, disabled: false, busy: false };
  }

  async signIn(person: Person): Promise<void> {
    const { name: user, username: identifier, cookie, signInForm } = person;
    const fields = { ...signInForm, identifier, password: PASSWORD };
    const done = await this.#do(
      ({ cookie: text }) => ({
        ...{ kind: 'sign in', user },
        ...(text !== undefined && { session: this.#name('s', text) }),
      }),
      (wire) => postForm(wire, '/login', cookie, fields),
      readSignIn,
    );
    if (done.cookie === undefined) return;
    const session = { name: this.#name('s', done.cookie), cookie: `${cookie}; ${done.cookie}` };
    const page = await this.#do(
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
    const withCode = ({ code }: Read) => (code === undefined ? {} : { code: this.#name('k', code) });
    const path = `${PATHS[endpointSet]}/${AUTHORIZE}&client_id=${app.id}`;
    const first = await this.#do(
      (read) => ({ kind: 'authorize', ...asked, ...withCode(read) }),
      (wire) => getPage(wire, path, session.cookie),
      (answer) => ({ ...readRedirect(answer), location: String(answer.headers['location']) }),
    );
    if (first.outcome === 'login' && person.session === session) person.session = undefined;
    const { outcome } = first;
    if (outcome !== 'consent') return { outcome, code: this.#keep(first.code, { person, app, endpointSet }) };
    const page = await this.#do(
      { kind: 'page' },
      (wire) => getPage(wire, first.location, session.cookie),
      (answer) => ({ ...readPage(answer), form: hiddenFields(answer, '/consent') }),
    );
    if (page.form === undefined) return { outcome };
    const fields = { ...page.form, decision: 'allow', 'allow email': 'on' };
    const moment = ({ start, end }: Moment): Moment => ({ start, end });
    const [began, shown] = [moment(first.operation), moment(page.operation)];
    const second = await this.#do(
      (read) => ({ kind: 'consent', ...asked, began, shown, ...withCode(read) }),
      (wire) => postForm(wire, '/consent', session.cookie, fields),
      readRedirect,
    );
    return { outcome, code: this.#keep(second.code, { person, app, endpointSet }) };
  }

  #keep(text: string | undefined, of: Pick<Code, 'person' | 'app' | 'endpointSet'>): Code | undefined {
    if (text === undefined) return undefined;
    const code = { name: this.#name('k', text), text, ...of };
    this.codes.push(code);
    return code;
  }

  /** @param at the set of endpoints of the token endpoint */
  async redeem(code: Code, node?: number, at = code.endpointSet): Promise<string> {
    const { app } = code;
    const body = {
      grant_type: 'authorization_code',
      ...{ code: code.text, redirect_uri: REDIRECT_URI },
      ...{ client_id: app.id, client_secret: app.secret },
    };
    const done = await this.#do(
      (read) => ({ kind: 'redeem', at, code: code.name, ...this.#tokens(read) }),
      (wire) => postJson(wire, `${PATHS[at]}/token`, body),
      readTokens,
      node,
    );
    if (done.access === undefined || done.refresh === undefined) return done.outcome;
    const family: Family = { code, access: [], refresh: [] };
    this.families.push(family);
    this.#take(family, done);
    return done.outcome;
  }

  /** @param at the set of endpoints of the token endpoint */
  async refresh(family: Family, token: Token, node?: number, at = family.code.endpointSet): Promise<string> {
    const { app } = family.code;
    const body = {
      ...{ grant_type: 'refresh_token', refresh_token: token.text },
      ...{ client_id: app.id, client_secret: app.secret },
    };
    const done = await this.#do(
      (read) => ({ kind: 'refresh', at, token: token.name, ...this.#tokens(read) }),
      (wire) => postJson(wire, `${PATHS[at]}/token`, body),
      readTokens,
      node,
    );
    this.#take(family, done);
    return done.outcome;
  }

  #tokens({ access, refresh }: Read) {
    if (access === undefined || refresh === undefined) return {};
    return { access: this.#name('a', access), refresh: this.#name('r', refresh) };
  }

  #take(family: Family, read: Read): void {
    for (const kind of ['access', 'refresh'] as const) {
      const text = read[kind];
      if (text === undefined || family[kind].some((known) => known.text === text)) continue;
      family[kind].push({ name: this.#name(kind[0] as string, text), text });
    }
  }

  /** @param at the set of endpoints of the UserInfo endpoint */
  async look(token: Token, at: EndpointSet = 'v2', node?: number): Promise<string> {
    const asked = { kind: 'userinfo', at, access: token.name } as const;
    return (await this.#do(asked, (wire) => userInfo(wire, `${PATHS[at]}/userinfo`, token.text), readJson, node))
      .outcome;
  }

  /** An operator's doing. Answers where it was done, if it was. */
  async #byOperator(asked: Asked, method: string, path: string, body?: unknown): Promise<number | undefined> {
    const done = await this.#do(asked, (wire) => admin(wire, ADMIN_KEY, method, path, body), readJson);
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

  /** By an operator, or by the person where there is a session to do it with. */
  async revoke(person: Person, app: App, session?: Session): Promise<number | undefined> {
    const asked = { kind: 'revoke', user: person.name, client: app.name } as const;
    if (session === undefined) return this.#byOperator(asked, 'DELETE', `/users/${person.id}/connections/${app.id}`);
    return this.#byPerson(asked, session, '/account/connections', { client_id: app.id });
  }

  signOutEverywhere = (person: Person, session: Session) =>
    this.#byPerson({ kind: 'sign out everywhere', user: person.name }, session, '/account/sign-out-everywhere', {});

  async #byPerson(
    asked: Asked & { kind: 'revoke' | 'sign out everywhere' },
    { name, cookie, formToken = '' }: Session,
    path: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<number | undefined> {
    const form = { form_token: formToken, ...fields };
    const done = await this.#do({ ...asked, session: name }, (wire) => postForm(wire, path, cookie, form), readDeed);
    return done.outcome === 'ok' ? done.operation.node : undefined;
  }

  /** Something that is about no user, and must not affect any. */
  async aside(kind: 'rotate keys', work: () => Promise<boolean>): Promise<void> {
    const answer = async () => ({ status: (await work()) ? 200 : 500, headers: {}, text: '' });
    await this.#do({ kind }, answer, readPage);
  }
}
