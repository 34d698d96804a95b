import { barMaker, madeOf, mayEndMade } from '../../account-actions/makers/bar.ts';
import { isNothing, type Made } from '../../account-actions/makers/list-made.ts';
import type { MadeAccess } from '../../account-actions/makers/made-access.ts';
import { LET_IN, type OpeningKind } from '../../accounts/opening-store.ts';
import { isolate } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import { enumerated } from '../../platform/date-text.ts';
import { appAddress } from '../apps/addresses.ts';
import { groupAddress } from '../groups/pages.ts';
import { keyAddress } from '../keys/addresses.ts';
import { personLink } from '../links.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import { upstreamAddress } from '../upstreams/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';

const ACCESS_KINDS: readonly MadeAccess['kind'][] = ['assignment', 'group member', 'member through provider', 'member'];

/** Accounts that were created or changed. */
function accountList(site: Site, visit: ConsoleVisit, accounts: Made['accounts']): readonly HtmlPart[] {
  const { made: text } = site.messages.operators.operators;
  return accounts.map(({ accountId, acts }) =>
    text.accountMade(personLink(site, visit, accountId), enumerated(acts.map((act) => text.accountActs[act]))),
  );
}

/** Parts as a list; undefined for none. */
const joined = ({ messages }: Site, parts: readonly HtmlPart[]): HtmlPart =>
  parts.length === 0 ? undefined : joinList(parts, messages, 'enumeration');

/** Settings that were changed: those that are put back with the others, or those that stay. */
function settingsList(site: Site, { settings }: Pick<Made, 'settings'>, which: 'fields' | 'left'): readonly HtmlPart[] {
  const { made: text } = site.messages.operators.operators;
  return settings
    .filter((one) => one[which].length > 0)
    .map((one) => {
      const fields = enumerated(one[which].map((name) => text.settings[name]));
      const link = html`<a href="${site.path(ADDRESSES[one.kind](one.id))}">${isolate(one.name)}</a>`;
      const made = text.settingsMade[one.kind](link, fields);
      return one.disables && which === 'fields' ? text.disables(made) : made;
    });
}

const ADDRESSES = {
  app: appAddress,
  organization: organizationAddress,
  group: groupAddress,
  upstream: upstreamAddress,
};

/** What an operator or a key made that still counts; undefined where that is nothing. */
function madeList(site: Site, visit: ConsoleVisit, made: Omit<Made, 'through'>): HtmlPart {
  const { adminKeys, roles, apps, upstreams, access, hasMoreAccess } = made;
  const { operators: text, roles: names } = site.messages.operators;
  const listed = [
    ...adminKeys.map(({ id, name }) =>
      text.made.keyMade(html`<a href="${site.path(keyAddress(id))}">${isolate(name)}</a>`),
    ),
    ...roles.map(({ accountId, role }) => text.made.roleMade(names[role], personLink(site, visit, accountId))),
    ...apps.map(({ clientId, name, acts }) =>
      text.made.appMade(
        html`<a href="${site.path(appAddress(clientId))}">${isolate(name)}</a>`,
        enumerated(acts.map((act) => text.made.appActs[act])),
      ),
    ),
    ...made.unblockedDomains.map((domain) => text.made.domainUnblocked(isolate(domain))),
    ...upstreams.map(({ name, acts }) =>
      text.made.upstreamMade(isolate(name), enumerated(acts.map((act) => text.made.upstreamActs[act]))),
    ),
    ...settingsList(site, made, 'fields'),
    ...ACCESS_KINDS.flatMap((kind) => {
      const count = access.filter((one) => one.kind === kind).length;
      return count === 0 ? [] : [text.made.accessMade[kind](count)];
    }),
    ...(hasMoreAccess ? [text.made.moreAccess] : []),
    ...accountList(site, visit, made.accounts),
    ...(made.hasMoreAccounts ? [text.made.moreAccounts] : []),
  ];
  return joined(site, listed);
}

/** Rights of others as they were before: those that are so again with the end, or those that were taken away or made less. */
function rightsList(
  site: Site,
  visit: ConsoleVisit,
  { changedRights, hasMoreChangedRights }: Pick<Made, 'changedRights' | 'hasMoreChangedRights'>,
  areAsBefore: boolean,
): HtmlPart {
  const { operators: text, roles: names } = site.messages.operators;
  const { formerRights, moreRights } = text.made;
  const linked = (address: string, id: string): HtmlPart => html`<a href="${site.path(address)}">${id}</a>`;
  const organization = (id: string): HtmlPart => linked(organizationAddress(id), id);
  const shown = changedRights.filter(({ isWhole }) => isWhole === areAsBefore);
  const listed = shown.map(({ former: right }): HtmlPart => {
    const person = right.accountId === null ? undefined : personLink(site, visit, right.accountId);
    if (right.kind === 'role') return formerRights.role(names[right.role], person);
    if (right.kind === 'member') return formerRights.member(person, organization(right.organizationId));
    const { groupId, organizationId, clientId } = right;
    const group = groupId === null ? undefined : formerRights.group(linked(groupAddress(groupId), groupId));
    const whole = organizationId === null ? undefined : formerRights.organization(organization(organizationId));
    return formerRights.assignment(person ?? group ?? whole, linked(appAddress(clientId), clientId));
  });
  return joined(site, hasMoreChangedRights && changedRights.length > 0 ? [...listed, moreRights] : listed);
}

/** The accounts of others with which a part of it was made, a paragraph each. */
function throughList(site: Site, visit: ConsoleVisit, { through }: Made, isEnded: boolean): HtmlPart {
  const { made: text } = site.messages.operators.operators;
  const closes = isEnded ? text.closedAccount : text.closesAccount;
  const endingOf = (acts: readonly OpeningKind[]): string =>
    [
      ...(acts.some((act) => act !== LET_IN) ? [closes] : []),
      ...(acts.includes(LET_IN) ? [text.barsAccount] : []),
    ].join(' ');
  return through.map(({ accountId, acts, ends, made }) => {
    const names = enumerated(acts.map((act) => text.accountActs[act]));
    const shown = isEnded ? { ...made, accounts: made.accounts.filter((one) => one.ends) } : made;
    const list = madeList(site, visit, shown);
    return html`<p>${text.throughAccount(personLink(site, visit, accountId), names, list)}${ends && ` ${endingOf(acts)}`}</p>`;
  });
}

/** What goes on, with the choice to end it as well. */
export function endMadeChoice(site: Site, visit: ConsoleVisit, made: Made, isChosen: boolean): HtmlPart {
  const { made: text } = site.messages.operators.operators;
  const listed = madeList(site, visit, made);
  if (isNothing(made)) return html`<p class="muted">${text.madeNothing}</p>`;
  const through = throughList(site, visit, made, false);
  const note = made.accounts.length > 0 && html`<p class="muted">${text.accountsNote}</p>`;
  const raised = rightsList(site, visit, made, true);
  const lost = rightsList(site, visit, made, false);
  const staying = joined(site, settingsList(site, made, 'left'));
  return html`${listed !== undefined && html`<p>${text.goesOn(listed)}</p>`}${through}${raised !== undefined && html`<p>${text.raisedRights(raised)}</p>`}${lost !== undefined && html`<p>${text.lostRights(lost)}</p>`}${staying !== undefined && html`<p>${text.checkSettings(staying)}</p>`}${note}<label class="check"><input type="checkbox" name="made" value="end"${isChosen && html` checked`}><span>${text.endMade}</span></label>`;
}

/** Whether the form says that it ends as well. */
export const isMadeToEnd = (given: { get(name: string): string | undefined }): boolean => given.get('made') === 'end';

/** What a person made as an operator, for a page that asks whether to bar them; undefined where that is nothing, or not for this operator. */
export async function madeToAsk({ services, operator }: ConsoleVisit, accountId: string): Promise<Made | undefined> {
  if (!mayEndMade(operator)) return undefined;
  const made = await madeOf(services, accountId);
  return isNothing(made) ? undefined : made;
}

/**
 * Bars or deletes a person, and ends what they made as an operator where the form says so.
 * @returns also what ended, or goes on, for the answer
 */
export async function barAsked<T>(
  visit: ConsoleVisit,
  accountId: string,
  given: { get(name: string): string | undefined },
  act: (services: ConsoleVisit['services']) => Promise<T>,
): Promise<{ readonly result: T; readonly made: HtmlPart }> {
  const { services, origin } = visit;
  const endMade = isMadeToEnd(given);
  const { result, made } = await barMaker(services, accountId, origin, { endMade }, (database) =>
    act({ ...services, database }),
  );
  return { result, made: made !== undefined && endedMade(services.site, visit, made, endMade) };
}

/** What ended with it, or goes on. */
export function endedMade(site: Site, visit: ConsoleVisit, made: Made, isEnded: boolean): HtmlPart {
  const { made: text } = site.messages.operators.operators;
  const others = isEnded ? made.accounts.filter(({ ends }) => !ends) : [];
  const left = joined(site, accountList(site, visit, others));
  const shown = isEnded ? { ...made, accounts: made.accounts.filter(({ ends }) => ends) } : made;
  const listed = madeList(site, visit, shown);
  const since = joined(site, settingsList(site, made, 'left'));
  const through = throughList(site, visit, made, isEnded);
  const raised = rightsList(site, visit, made, true);
  const lost = rightsList(site, visit, made, false);
  const parts = [listed, left, since, raised, lost];
  if (parts.every((part) => part === undefined) && made.through.length === 0) return undefined;
  const isKnownAsOther = made.upstreams.some(({ acts }) => acts.includes('client'));
  return html`${listed !== undefined && html`<p>${isEnded ? text.ended(listed) : text.stays(listed)}</p>`}${through}${raised !== undefined && html`<p>${isEnded ? text.rightsAsBefore(raised) : text.rightsStayRaised(raised)}</p>`}${lost !== undefined && html`<p>${text.lostRights(lost)}</p>`}${left !== undefined && html`<p>${text.checkAccounts(left)}</p>`}${since !== undefined && html`<p>${text.checkSettings(since)}</p>`}${isKnownAsOther && html`<p>${text.checkClients}</p>`}`;
}
