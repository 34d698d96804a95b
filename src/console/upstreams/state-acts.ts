import { deleteUpstream, disableUpstream } from '../../account-actions/upstreams/end-upstream.ts';
import { enableUpstream } from '../../account-actions/upstreams/upstreams.ts';
import { fact, facts, field, fieldProblem, generalProblem, isolate, type Problems } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { joinList } from '../../pages/lists.ts';
import { beforeFirstCommit } from '../../platform/database/first-commit.ts';
import { type Failure, invalid } from '../../platform/failure.ts';
import { IDLE_TIMEOUT } from '../../sessions/sessions.ts';
import { type SignedInThrough, signedInThrough } from '../../sessions/upstream-count-store.ts';
import { countConnected } from '../../upstreams/identity-store.ts';
import { lockUpstream, type Upstream } from '../../upstreams/store.ts';
import { type ConsoleAct, defineAct, type Given } from '../act.ts';
import { personLink } from '../links.ts';
import { PAGE_SIZE } from '../list.ts';
import { StalePage, seenVersion, versionOfShown } from '../seen.ts';
import type { ConsoleVisit } from '../visit.ts';
import { UPSTREAMS, upstreamActPath } from './addresses.ts';
import { textsOf } from './fields.ts';
import { foundUpstream, foundWithOrganizations } from './page.ts';
import { aboutUpstream, backToUpstream, namedUpstream } from './subject.ts';

const manage = { section: 'upstreams', permission: 'upstreams.manage', objects: {} } as const;

/** A provider, and who is signed in through it. */
interface InUse {
  readonly upstream: Upstream;
  readonly people: number;
  readonly sessions: number;
  readonly first: readonly SignedInThrough[];
  /** The organizations that are let in only through it. */
  readonly organizations: readonly { readonly name: string }[];
}

function findInUse({ services, named }: ConsoleVisit): Promise<InUse> {
  const now = services.clock();
  const id = named.id ?? '';
  return services.database.read(function* read() {
    const found = yield* foundWithOrganizations(id);
    const live = { upstreamId: id, now, idleSince: now - IDLE_TIMEOUT };
    return { ...found, ...(yield* signedInThrough({ ...live, limit: PAGE_SIZE })) };
  });
}

/** Whose sessions end, if that is chosen. */
function inUse(visit: ConsoleVisit, { people, sessions, first, organizations }: InUse): Html {
  const { switchOff: words } = textsOf(visit);
  const { site } = visit.services;
  const rows = first.map(
    ({ id, displayName, username, sessions: browsers }) =>
      html`<li><div>${personLink(site, visit, id, isolate(displayName))} <span class="small muted">${isolate(username)} · ${words.browsers(browsers)}</span></div></li>`,
  );
  const more = people > first.length && html`<li><div class="muted">${words.more(people - first.length)}</div></li>`;
  const named = joinList(
    organizations.map(({ name }) => isolate(name)),
    site.messages,
  );
  return html`${facts([
    fact(words.goesOn, people === 0 ? words.nobody : words.count(people, sessions), true),
    organizations.length > 0 && fact(words.only, named, true),
  ])}${people > 0 && html`<ul class="items">${rows}${more}</ul>`}`;
}

/** Whether it was switched on or off since: not what else is changed of it, which these acts leave as it is. */
const versionOfState = ({ status, generation }: Upstream): string => versionOfShown(status, generation);

/** The services with which a provider is switched that is in the state that was shown, and no other. */
function inShownState({ services }: ConsoleVisit, { id }: Upstream, given: Given): ConsoleVisit['services'] {
  const database = beforeFirstCommit(services.database, function* check() {
    const current = yield* lockUpstream({ id });
    if (current !== undefined && versionOfState(current) !== given.get('seen')) throw new StalePage('provider');
  });
  return { ...services, database };
}

/** What the page of such an act says of the provider. */
function aboutState(upstream: Upstream, given: Given, problems: Problems) {
  const { about, ...others } = aboutUpstream(upstream);
  return { ...others, about: { ...about, seen: seenVersion(versionOfState(upstream), given, problems) } };
}

function staleState(visit: ConsoleVisit, failure: Failure, { status }: Upstream): Problems | undefined {
  const { stale } = textsOf(visit);
  return failure instanceof StalePage ? generalProblem(stale[status]) : undefined;
}

/** Lets nobody sign in through a provider, and ends what people were signed in to through it where that is chosen. */
const switchOff = defineAct<InUse>({
  ...{ address: upstreamActPath('switch-off'), ...manage, isDangerous: true, find: findInUse },
  ask(visit, found, given, problems) {
    const { switchOff: words, endSessions } = textsOf(visit);
    const { upstream } = found;
    const name = isolate(upstream.displayName);
    const isActive = upstream.status === 'active';
    const isChosen = given.get('end') === 'yes' || !isActive;
    return {
      ...{ title: isActive ? words.title(name) : words.endTitle(name), lead: isActive ? words.lead : words.endLead },
      fields: html`${inUse(visit, found)}<label class="check"><input type="checkbox" name="end" value="yes"${isChosen && html` checked`}><span>${words.end}</span></label>`,
      ...{ submit: isActive ? words.submit : endSessions, ...aboutState(upstream, given, problems) },
    };
  },
  async run(visit, { upstream }, given) {
    const { switchOff: words } = textsOf(visit);
    const endSessions = given.get('end') === 'yes';
    const services = inShownState(visit, upstream, given);
    const { ended } = await disableUpstream(services, upstream.id, { endSessions }, visit.origin);
    const now: HtmlPart = endSessions ? words.ended(ended.sessions) : words.now;
    return { title: words.done(isolate(upstream.displayName)), now, ...backToUpstream(visit, upstream) };
  },
  problemOf: (visit, failure, { upstream }) => staleState(visit, failure, upstream),
});

const switchOn = defineAct<Upstream>({
  ...{ address: upstreamActPath('switch-on'), ...manage, isDangerous: false, find: namedUpstream },
  ask(visit, upstream, given, problems) {
    const { switchOn: words } = textsOf(visit);
    const title = words.title(isolate(upstream.displayName));
    return { title, lead: words.lead, submit: words.submit, ...aboutState(upstream, given, problems) };
  },
  async run(visit, shown, given) {
    const { switchOn: words } = textsOf(visit);
    const upstream = await enableUpstream(inShownState(visit, shown, given), shown.id, visit.origin);
    return { title: words.done(isolate(upstream.displayName)), now: words.now, ...backToUpstream(visit, upstream) };
  },
  problemOf: staleState,
});

/** How many people are counted. */
const MOST = 1000;

/** A provider, and how many people lose it. */
interface Connected {
  readonly upstream: Upstream;
  readonly people: number;
}

const deletion = defineAct<Connected>({
  ...{ address: upstreamActPath('delete'), ...manage, isDangerous: true },
  find: ({ services, named: { id = '' } }) =>
    services.database.read(function* read() {
      const upstream = yield* foundUpstream(id);
      return { upstream, people: yield* countConnected({ upstreamId: id, most: MOST + 1 }) };
    }),
  ask(visit, { upstream, people }, given, problems) {
    const { deletion: words } = textsOf(visit);
    const lost = people === 0 ? words.nobody : words.people(Math.min(people, MOST), people > MOST);
    const asked = field({
      ...{ name: 'typed', label: words.typed, hint: words.typedHint(upstream.name), type: 'text', autocomplete: 'off' },
      ...{ problems, value: given.get('typed') ?? '' },
    });
    return {
      ...{ title: words.title(isolate(upstream.displayName)), lead: words.lead, submit: words.submit },
      fields: html`${facts([fact(words.connected, lost, true), fact(words.groups, words.groupsKept, true)])}${asked}`,
      ...aboutUpstream(upstream),
    };
  },
  async run(visit, { upstream }, given) {
    const { deletion: words, title } = textsOf(visit);
    if ((given.get('typed') ?? '').trim() !== upstream.name) throw invalid('typed');
    await deleteUpstream(visit.services, upstream.id, visit.origin);
    const { back } = visit.services.site.messages.operators;
    return { title: words.done(isolate(upstream.displayName)), now: words.now, back: UPSTREAMS, backTo: back(title) };
  },
  problemOf: (visit, { message }) =>
    message === 'typed' ? fieldProblem('typed', textsOf(visit).deletion.typedBad) : undefined,
});

/** The acts on whether a provider can be used. */
export const stateActs: readonly ConsoleAct[] = [switchOff, switchOn, deletion];
