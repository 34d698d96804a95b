import { updateUpstream } from '../../account-actions/upstreams/upstreams.ts';
import { field, fieldProblem, generalProblem, isolate, type Problems, textArea } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { beforeFirstCommit } from '../../platform/database/first-commit.ts';
import { validate } from '../../platform/validation/validate.ts';
import { UpdateUpstreamRequest } from '../../upstreams/schema.ts';
import { lockAmongAll, type Upstream } from '../../upstreams/store.ts';
import { type ConsoleAct, defineAct, type Given } from '../act.ts';
import { StalePage, seenVersion, versionOfShown } from '../seen.ts';
import type { ConsoleVisit } from '../visit.ts';
import { upstreamActPath } from './addresses.ts';
import { create, signUpFields } from './create.ts';
import { problemOf, secretFields, textsOf } from './fields.ts';
import { CHANGED, entriesOf, secretOf, shownOf, upstreamChange } from './rules/kinds.ts';
import { stateActs } from './state-acts.ts';
import { aboutUpstream, backToUpstream, namedUpstream } from './subject.ts';
import { trials } from './trials.ts';

type Version = (upstream: Upstream) => string;
const versionOfChange: Version = (upstream) => versionOfShown(shownOf(upstream));
const versionOfDomains: Version = ({ domains }) => versionOfShown(domains);

/** Changes the version that was shown, and no other. */
function update(visit: ConsoleVisit, { id }: Upstream, change: unknown, seen?: readonly [Version, string | undefined]) {
  const { services, origin } = visit;
  const asked = validate(UpdateUpstreamRequest, change);
  if (seen === undefined) return updateUpstream(services, id, asked, origin);
  const [version, shown] = seen;
  const database = beforeFirstCommit(services.database, function* check() {
    const current = yield* lockAmongAll({ id });
    if (current !== undefined && version(current) !== shown) throw new StalePage('provider');
  });
  return updateUpstream({ ...services, database }, id, asked, origin);
}

/** What is stored now, beside what was typed. */
const staleProblem = (visit: ConsoleVisit, stored: HtmlPart): Problems =>
  generalProblem(html`${textsOf(visit).change.stale} ${stored}`);

function changeFields(visit: ConsoleVisit, upstream: Upstream, given: Given, problems: Problems): Html {
  const text = textsOf(visit);
  const { change: words, create: labels } = text;
  const shown = shownOf(upstream);
  const isSent = given.get('seen') !== undefined;
  const value = (name: string): string =>
    given.get(name) ?? (isSent ? '' : (shown[CHANGED.find((known) => known === name) ?? 'position'] ?? ''));
  const input = (name: string, label: string, hint?: string, required = false) =>
    field({
      ...{ name, label, problems, required, type: 'text', autocomplete: 'off', value: value(name) },
      ...(hint !== undefined && { hint }),
    });
  return html`${input('displayName', labels.displayName, undefined, true)}
${input('clientId', labels.clientId, undefined, true)}
${signUpFields(text, value, problems)}
${input('mapName', words.mapName, words.mapHint)}
${input('mapLanguage', words.mapLanguage, words.mapHint)}
${input('mapPicture', words.mapPicture, words.mapPictureHint)}
${input('mapGroups', words.mapGroups, words.mapGroupsHint)}
${input('scopes', words.scopes, words.scopesHint)}
${input('position', words.position, words.positionHint)}`;
}

const change = defineAct<Upstream>({
  ...{ address: upstreamActPath('change'), section: 'upstreams', permission: 'upstreams.manage' },
  ...{ objects: {}, isDangerous: false },
  find: namedUpstream,
  ask(visit, upstream, given, problems) {
    const { change: words } = textsOf(visit);
    const { object, about, back } = aboutUpstream(upstream);
    return {
      ...{ title: words.title(isolate(upstream.displayName)), object, lead: words.lead, submit: words.submit, back },
      fields: changeFields(visit, upstream, given, problems),
      about: { ...about, seen: seenVersion(versionOfChange(upstream), given, problems) },
    };
  },
  async run(visit, upstream, given) {
    const { change: words } = textsOf(visit);
    const seen = [versionOfChange, given.get('seen')] as const;
    const changed = await update(visit, upstream, upstreamChange(upstream, given), seen);
    return { title: words.done(isolate(changed.displayName)), now: words.now, ...backToUpstream(visit, changed) };
  },
  problemOf(visit, failure, upstream) {
    if (!(failure instanceof StalePage)) return problemOf(visit, failure);
    return staleProblem(
      visit,
      Object.values(shownOf(upstream)).map((value) => value !== '' && html`<br>${isolate(value)}`),
    );
  },
});

const domains = defineAct<Upstream>({
  ...{ address: upstreamActPath('domains'), section: 'upstreams', permission: 'upstreams.manage' },
  ...{ objects: {}, isDangerous: true },
  find: namedUpstream,
  ask(visit, upstream, given, problems) {
    const { authority: words } = textsOf(visit);
    const { object, about, back } = aboutUpstream(upstream);
    return {
      ...{ title: words.title(isolate(upstream.displayName)), object, lead: words.lead, submit: words.submit, back },
      fields: textArea({
        ...{ name: 'domains', label: words.domains, hint: words.domainsHint, rows: 4, problems },
        value: given.get('domains') ?? upstream.domains.join('\n'),
      }),
      about: { ...about, seen: seenVersion(versionOfDomains(upstream), given, problems) },
    };
  },
  async run(visit, upstream, given) {
    const { authority: words } = textsOf(visit);
    const seen = [versionOfDomains, given.get('seen')] as const;
    const changed = await update(visit, upstream, { domains: entriesOf(given.get('domains') ?? '') }, seen);
    return { title: words.done, now: words.now, ...backToUpstream(visit, changed) };
  },
  problemOf(visit, failure, upstream) {
    if (failure instanceof StalePage) {
      return staleProblem(
        visit,
        upstream.domains.map((domain) => html`<br>${isolate(domain)}`),
      );
    }
    if (failure.message.startsWith('signUpDomains')) return fieldProblem('domains', textsOf(visit).bad.signUpDomains);
    return problemOf(visit, failure);
  },
});

const secret = defineAct<Upstream>({
  ...{ address: upstreamActPath('secret'), section: 'upstreams', permission: 'upstreams.manage' },
  ...{ objects: {}, isDangerous: false },
  find: namedUpstream,
  ask(visit, upstream, given, problems) {
    const { renewal: words } = textsOf(visit);
    const isKey = upstream.kind === 'apple';
    // The IDs of the team and of the key are no secrets.
    const known: Given = {
      get: (name) => given.get(name) ?? { teamId: upstream.teamId, keyId: upstream.keyId }[name] ?? undefined,
    };
    return {
      ...{ title: words.title(isolate(upstream.displayName)), lead: isKey ? words.leadKey : words.lead },
      fields: secretFields(visit, { isKey, isOptional: false }, known, problems),
      ...{ submit: words.submit, ...aboutUpstream(upstream) },
    };
  },
  async run(visit, upstream, given) {
    const { renewal: words } = textsOf(visit);
    const changed = await update(visit, upstream, secretOf(upstream.kind === 'apple', given));
    return { title: words.done, now: words.now, ...backToUpstream(visit, changed) };
  },
  problemOf: (visit, failure) => problemOf(visit, failure),
});

/** The acts on the providers through which people sign in. */
export const upstreamActs: readonly ConsoleAct[] = [create, change, domains, secret, ...trials, ...stateActs];
