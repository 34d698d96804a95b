import { type ClaimsPreview, previewClaims } from '../../account-actions/upstreams/preview.ts';
import { testUpstream } from '../../account-actions/upstreams/test-upstream.ts';
import { fact, facts, fieldProblem, isolate, textArea } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { joinList } from '../../pages/lists.ts';
import { validate } from '../../platform/validation/validate.ts';
import type { ProbeStep } from '../../upstreams/rules/probe-step.ts';
import { PreviewClaimsRequest } from '../../upstreams/schema.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import { personLink } from '../links.ts';
import type { ConsoleVisit } from '../visit.ts';
import { upstreamActAddress, upstreamActPath } from './addresses.ts';
import { textsOf } from './fields.ts';
import { aboutUpstream, backToUpstream, namedUpstream } from './subject.ts';

const manage = { section: 'upstreams', permission: 'upstreams.manage', objects: {}, isDangerous: false } as const;

function stepRows(visit: ConsoleVisit, { id }: Upstream, steps: readonly ProbeStep[]): Html {
  const { test: words } = textsOf(visit);
  const rows = steps.map(
    ({ step, level, found }) =>
      html`<li><div><strong${level === 'problem' && html` class="state"`}>${words.levels[level]}</strong> ${words.steps[step]}<br><span class="small">${isolate(found)}</span></div></li>`,
  );
  const again = visit.services.site.path(upstreamActAddress('test', { id }));
  return html`<section class="card"><h2>${words.found}</h2><ul class="items">${rows}</ul><p class="acts"><a class="button" href="${again}">${words.again}</a></p></section>`;
}

/** Walks the way of a sign-in at a provider, as far as it goes without a person. */
const test = defineAct<Upstream>({
  ...{ address: upstreamActPath('test'), ...manage, find: namedUpstream },
  ask(visit, upstream) {
    const { test: words } = textsOf(visit);
    const title = words.title(isolate(upstream.displayName));
    return { title, lead: words.lead, submit: words.submit, ...aboutUpstream(upstream) };
  },
  async run(visit, upstream) {
    const { test: words } = textsOf(visit);
    const { upstreams: providers } = visit.services;
    const steps = await testUpstream({ ...visit.services, outgoing: providers.outgoing }, upstream.id);
    const name = isolate(upstream.displayName);
    const isBad = steps.some(({ level }) => level === 'problem');
    return {
      ...{ title: isBad ? words.bad(name) : words.good(name), now: isBad ? words.badNow : words.goodNow },
      ...{ more: stepRows(visit, upstream, steps), ...backToUpstream(visit, upstream) },
    };
  },
});

function previewFacts(visit: ConsoleVisit, found: ClaimsPreview): Html {
  const { preview: words } = textsOf(visit);
  const { site } = visit.services;
  const names = (list: readonly string[]): HtmlPart =>
    list.length === 0 ? words.nothing : joinList(list.map(isolate), site.messages);
  const kept = (value: string | null): HtmlPart => (value === null ? words.kept : isolate(value));
  const { reason, accountId, groupsLeft, closedGroups, unknownGroups } = found;
  const written = [
    fact(words.displayName, kept(found.displayName)),
    fact(words.language, kept(found.language)),
    found.picture !== null && fact(words.picture, isolate(found.picture), true),
    ...found.unchanged.map(({ field, reason }) => fact(words.unchanged[field], isolate(reason), true)),
    fact(words.joins, names(found.joins)),
    fact(words.leaves, names(found.leaves)),
    closedGroups.length > 0 && fact(words.closedGroups, names(closedGroups), true),
    unknownGroups.length > 0 && fact(words.unknownGroups, names(unknownGroups), true),
    groupsLeft !== null && fact(words.groupsLeft, isolate(groupsLeft), true),
  ];
  return html`<section class="card">${facts([
    reason !== null && fact(words.why, isolate(reason), true),
    accountId !== null && fact(words.person, personLink(site, visit, accountId)),
    ...(found.outcome === 'refused' ? [] : written),
  ])}</section>`;
}

/** Says what a sign-in with a token would do, and writes nothing. */
const preview = defineAct<Upstream>({
  ...{ address: upstreamActPath('preview'), ...manage, find: namedUpstream },
  ask(visit, upstream, given, problems) {
    const { preview: words } = textsOf(visit);
    const typed = given.get('token') ?? '';
    // Claims may be corrected; a token is not shown again.
    const value = typed.trimStart().startsWith('{') ? typed : '';
    return {
      ...{ title: words.title(isolate(upstream.displayName)), lead: words.lead, submit: words.submit },
      fields: textArea({ name: 'token', label: words.token, hint: words.tokenHint, rows: 6, value, problems }),
      ...aboutUpstream(upstream),
    };
  },
  async run(visit, upstream, given) {
    const { preview: words } = textsOf(visit);
    const { token } = validate(PreviewClaimsRequest, { token: (given.get('token') ?? '').trim() });
    const found = await previewClaims(visit.services, upstream.id, token);
    return {
      ...{ title: words.outcomes[found.outcome], now: words.now, more: previewFacts(visit, found) },
      ...backToUpstream(visit, upstream),
    };
  },
  problemOf: (visit, { message }) =>
    message.startsWith('token') ? fieldProblem('token', textsOf(visit).preview.tokenBad) : undefined,
});

/** What is tried out without changing anything. */
export const trials: readonly ConsoleAct[] = [test, preview];
