import { isIP } from 'node:net';
import type { Random } from '../../test/support/random.ts';
import { type App, identify } from './apps.ts';
import { answerDevice, type Device, poll, startDevice } from './devices.ts';
import type { EndpointSet, RegisteredBy } from './history.ts';
import type { Code, Family, Person, Token, World } from './world.ts';

/** How often each thing is done, beside the others. */
const WEIGHTS = {
  look: 30,
  refresh: 16,
  refreshTogether: 5,
  retry: 4,
  retryBesideUse: 2,
  reuse: 0.7,
  authorize: 14,
  redeem: 14,
  redeemTogether: 2,
  replay: 0.7,
  cross: 2,
  revoke: 1.2,
  revokeAll: 0.5,
  secure: 1.2,
  disable: 0.3,
  remove: 0.4,
  block: 0.7,
  lift: 2.5,
} as const;

/** How many people and apps share a stretch: few enough to meet, many enough that something lives. */
const PEOPLE = 8;
const APPS: readonly RegisteredBy[] = ['operator', 'operator', 'itself', 'document', 'device'];
const WORKERS = 16;

/** What is done to an account as a whole, and how often beside each other. */
const SECURING = { ban: 3, suspend: 3, signOutEverywhere: 3, newPassword: 1 } as const;

const last = <T>(list: readonly T[], back = 1): T | undefined => list[list.length - back];

/** A worker of the load: its choices follow from the seed, the interleaving of its requests does not. */
export class Load {
  readonly #world: World;
  readonly #random: Random;
  #people: readonly Person[] = [];
  readonly #apps: App[] = [];
  /** Is never barred, and is the first to allow the apps of metadata documents. */
  #founder: Person | undefined;
  /** The host of the documents. Blocked, it is unblocked after a while. */
  readonly #host = { name: '', blocked: false, busy: false };
  /** Codes that were not presented yet. */
  readonly #fresh: Code[] = [];

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** Works until the history is so long, then lifts every bar and presents everything once more. */
  async run(operations: number): Promise<void> {
    const world = this.#world;
    [this.#founder, ...this.#people] = await Promise.all(Array.from({ length: PEOPLE + 1 }, () => world.newPerson()));
    this.#apps.push(...(await Promise.all(APPS.map((by) => this.#newApp(by)))));
    await Promise.all(this.#people.map((person) => world.signIn(person)));
    const worker = async () => {
      while (world.history.length < operations) await this.#act();
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    await this.#close();
  }

  #act(): Promise<unknown> {
    const random = this.#random;
    const world = this.#world;
    const [person, app] = [random.pick(this.#people), random.pick(this.#apps)];
    if (person === undefined || app === undefined) throw new Error('there is no user or app');
    const family = this.#family();
    const action = random.weighted(WEIGHTS);
    if (
      family === undefined &&
      ['look', 'refresh', 'refreshTogether', 'retry', 'retryBesideUse', 'reuse'].includes(action)
    ) {
      return this.#authorize(person, app);
    }
    switch (action) {
      case 'look':
        return this.#look(family);
      case 'refresh':
        return this.#refresh(family, 1);
      case 'retry':
        return this.#refresh(family, 2);
      case 'reuse':
        return this.#refresh(family, 3 + random.below(2));
      case 'refreshTogether':
        return this.#together(1 + random.below(3), (node) => this.#refresh(family, 1, node));
      case 'retryBesideUse':
        return this.#together(1, (node, index) => this.#refresh(family, 1 + index, node));
      case 'authorize':
        return this.#authorize(person, app);
      case 'redeem':
      case 'redeemTogether': {
        const code = this.#fresh.shift();
        if (code === undefined) return this.#authorize(person, app);
        const others = action === 'redeem' ? 0 : 1 + random.below(3);
        return this.#together(others, (node) => this.#redeem(code, node));
      }
      case 'replay': {
        const used = family?.code;
        return used === undefined ? this.#authorize(person, app) : this.#redeem(used);
      }
      case 'cross':
        // The endpoints of the contract do not know the others.
        return family?.code.app.by === 'operator' ? this.#cross(family) : this.#look(family);
      case 'revoke': {
        const session = random.chance(0.5) ? person.session : undefined;
        return this.#amid(person, app, () => world.revoke(person, app, session));
      }
      case 'revokeAll': {
        const { session } = person;
        if (session?.formToken === undefined) return this.#authorize(person, app);
        return this.#amid(person, undefined, () => world.revokeAll(person, session));
      }
      case 'secure':
        return this.#secure(person, app);
      case 'remove':
        return this.#remove(app);
      case 'block':
        return this.#block(app);
      case 'disable':
        return this.#disable(app);
      case 'lift':
        return this.#lift();
    }
  }

  /** Mostly one of the newest, which live more often. */
  #family(): Family | undefined {
    const { families } = this.#world;
    const { length } = families;
    return this.#random.chance(0.8)
      ? families[length - 1 - this.#random.below(Math.min(length, 24))]
      : this.#random.pick(families);
  }

  async #look(family: Family | undefined, node?: number): Promise<void> {
    if (family === undefined) return;
    const token = this.#random.chance(0.7) ? last(family.access) : this.#random.pick(family.access);
    // A token of the v2 endpoints is accepted at both.
    const at = family.code.endpointSet === 'v2' ? this.#endpointSet() : 'oidc';
    if (token !== undefined) await this.#world.look(token, at, node);
  }

  #endpointSet(): EndpointSet {
    return this.#random.chance(0.5) ? 'v2' : 'oidc';
  }

  /** Presents something at the other endpoints, which neither accepts it nor harms it. */
  async #cross(family: Family | undefined): Promise<void> {
    const world = this.#world;
    const other = ({ endpointSet }: Code): EndpointSet => (endpointSet === 'v2' ? 'oidc' : 'v2');
    const code = this.#random.chance(0.5) ? this.#fresh.find(({ app }) => app.by === 'operator') : family?.code;
    if (code !== undefined) await world.redeem(code, undefined, other(code));
    if (family === undefined) return;
    const [access, refresh] = [last(family.access), this.#random.pick(family.refresh)];
    if (refresh !== undefined) await world.refresh(family, refresh, undefined, other(family.code));
    if (access !== undefined && family.code.endpointSet === 'oidc') await world.look(access, 'v2');
  }

  /** @param age 1 is the live token, 2 the one before it; the oldest, where there is none so old */
  async #refresh(family: Family | undefined, age: number, node?: number): Promise<void> {
    if (family === undefined) return;
    const token: Token | undefined = last(family.refresh, age) ?? family.refresh[0];
    if (token !== undefined) await this.#world.refresh(family, token, node);
  }

  /** The same at several nodes in the same moment. */
  async #together(others: number, work: (node: number, index: number) => Promise<unknown>): Promise<void> {
    let node = this.#world.node();
    const all: Promise<unknown>[] = [];
    for (let index = 0; index <= others; index++) {
      all.push(work(node, index));
      node = this.#world.node(node);
    }
    await Promise.all(all);
  }

  async #authorize(person: Person, app: App): Promise<void> {
    const bars = person.barredBy.size > 0;
    // A barred person tries at times.
    if (person.session === undefined && !person.busyWith.has('sign in') && (!bars || this.#random.chance(0.1))) {
      person.busyWith.add('sign in');
      await this.#world.signIn(person);
      person.busyWith.delete('sign in');
    }
    if (app.by === 'device') return this.#connect(person, app);
    const { code } = await this.#world.authorize(person, app, app.by === 'operator' ? this.#endpointSet() : 'oidc');
    if (code !== undefined) this.#fresh.push(code);
  }

  #redeem(code: Code, node?: number): Promise<string> {
    const { name, app, text } = code;
    return app.by === 'device'
      ? poll(this.#world, { name, app, deviceCode: text }, code, node)
      : this.#world.redeem(code, node);
  }

  /** A device asks, and one or two people answer it, at times while it polls. */
  async #connect(person: Person, app: App): Promise<void> {
    const random = this.#random;
    const device = await startDevice(this.#world, app);
    if (device === undefined) return;
    if (random.chance(0.3)) await poll(this.#world, device);
    const answers = [this.#answer(person, device, random.chance(0.15) ? 'deny' : 'allow')];
    if (random.chance(0.2)) answers.push(this.#answer(random.pick(this.#people) ?? person, device, 'allow'));
    const answered = Promise.all(answers);
    if (random.chance(0.2)) await this.#together(1, (node) => poll(this.#world, device, undefined, node));
    const codes = (await answered).flatMap((code) => code ?? []);
    this.#fresh.push(...codes);
    if (codes.length === 0) await poll(this.#world, device);
  }

  #answer = (person: Person, device: Device, decision: 'allow' | 'deny') =>
    answerDevice(this.#world, person, device, decision);

  /**
   * An event with requests beside it, and what it concerns presented at another node the very moment that it has been
   * acknowledged.
   */
  async #amid(
    person: Person | undefined,
    app: App | undefined,
    event: () => Promise<number | undefined>,
  ): Promise<void> {
    const concerned = this.#world.families
      .filter(({ code }) => (person ?? code.person) === code.person && (app ?? code.app) === code.app)
      .slice(-3);
    const codes = this.#fresh.filter(
      (code) => (person ?? code.person) === code.person && (app ?? code.app) === code.app,
    );
    const crowd = concerned.flatMap((family) => [() => this.#refresh(family, 1), () => this.#look(family)]);
    const place = this.#random.below(crowd.length + 1);
    const before = crowd.slice(0, place).map((send) => send());
    const happening = event().then(async (node) => {
      if (node === undefined) return;
      const at = () => this.#world.node(node);
      const presented = codes.slice(0, 2).map((code) => this.#redeem(code, at()));
      await Promise.all([
        ...presented,
        ...concerned.flatMap((family) => [this.#look(family, at()), this.#refresh(family, 1, at())]),
      ]);
    });
    await Promise.all([...before, happening, ...crowd.slice(place).map((send) => send())]);
  }

  async #secure(person: Person, app: App): Promise<void> {
    const world = this.#world;
    const kind = this.#random.weighted(SECURING);
    if (kind === 'newPassword') return this.#amid(person, undefined, () => world.newPassword(person));
    if (kind === 'signOutEverywhere') {
      const { session } = person;
      if (session?.formToken === undefined) return this.#authorize(person, app);
      return this.#amid(person, undefined, () => world.signOutEverywhere(person, session));
    }
    if (person.barredBy.has(kind) || person.busyWith.has(kind)) return this.#lift();
    person.busyWith.add(kind);
    person.barredBy.add(kind);
    await this.#amid(person, undefined, () => world[kind](person));
    person.busyWith.delete(kind);
  }

  async #disable(app: App): Promise<void> {
    if (app.disabled || app.busy) return this.#lift();
    app.disabled = app.busy = true;
    // That ends the token of a registration, also once the app is enabled again.
    app.registrationToken = undefined;
    await this.#amid(undefined, app, () => this.#world.setStatus(app, 'disabled'));
    app.busy = false;
  }

  /** Makes an app. The founder allows that of a metadata document, so that operators know it. */
  async #newApp(by: RegisteredBy): Promise<App> {
    const [world, founder] = [this.#world, this.#founder];
    const app = await world.newApp(by);
    if (by !== 'document') return app;
    this.#host.name = app.host ?? '';
    while (app.id === '' && founder !== undefined) {
      if (founder.session === undefined) await world.signIn(founder);
      await world.authorize(founder, app, 'oidc');
      await world.tryAgain(() => identify(world, founder, app));
    }
    return app;
  }

  /** Another one takes the place of an app that is gone for good. */
  async #replace(app: App): Promise<void> {
    this.#apps[this.#apps.indexOf(app)] = await this.#newApp(app.by);
  }

  async #remove(app: App): Promise<void> {
    const host = this.#host;
    if (app.by === 'operator' || app.disabled || app.busy || host.blocked || host.busy) return this.#lift();
    app.busy = host.busy = true;
    await this.#amid(undefined, app, () => this.#world.remove(app));
    await this.#replace(app);
    host.busy = false;
  }

  /** The domain of an app is blocked: that of one that registered itself for good. */
  async #block(app: App): Promise<void> {
    const host = this.#host;
    const name = app.host;
    // An address is no domain.
    if (name === undefined || isIP(name) !== 0 || app.busy || host.blocked || host.busy) return this.#lift();
    app.busy = host.busy = true;
    host.blocked = app.by === 'document';
    await this.#amid(undefined, app, () => this.#world.block(name));
    if (app.by === 'itself') await this.#replace(app);
    app.busy = host.busy = false;
  }

  /** Lifts one ban or suspension; without any, reads an account. */
  async #lift(): Promise<void> {
    const world = this.#world;
    const host = this.#host;
    if (host.blocked && !host.busy) {
      host.busy = true;
      host.blocked = !(await world.unblock(host.name));
      host.busy = false;
      return;
    }
    const app = this.#random.pick(this.#apps.filter(({ disabled, busy }) => disabled && !busy));
    if (app !== undefined) {
      app.busy = true;
      await world.setStatus(app, 'active');
      app.disabled = app.busy = false;
      return;
    }
    for (const [kind, lift] of [
      ['ban', world.unban],
      ['suspend', world.reinstate],
    ] as const) {
      const person = this.#random.pick(
        this.#people.filter(({ barredBy, busyWith }) => barredBy.has(kind) && !busyWith.has(kind)),
      );
      if (person === undefined) continue;
      person.busyWith.add(kind);
      await lift(person);
      person.barredBy.delete(kind);
      person.busyWith.delete(kind);
      return;
    }
    await this.#look(this.#family());
  }

  /** What died stays dead when every bar is gone; what lives, lives. */
  async #close(): Promise<void> {
    const world = this.#world;
    const isBarred = () => this.#host.blocked || this.#apps.some(({ disabled }) => disabled);
    while (isBarred() || this.#people.some(({ barredBy }) => barredBy.size > 0)) {
      await this.#lift();
    }
    const left: (() => Promise<unknown>)[] = [
      ...this.#fresh.map((code) => () => this.#redeem(code)),
      ...world.families.map((family) => async () => {
        await this.#look(family);
        await this.#refresh(family, 1);
        await this.#look(family);
      }),
    ];
    const worker = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await next();
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
  }
}
