import type { Made } from '../../account-actions/makers/made.ts';
import type { MadeAccess } from '../../account-actions/makers/made-access.ts';
import { isolate } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { appAddress } from '../apps/page.ts';
import { keyAddress } from '../keys/addresses.ts';
import { personLink } from '../links.ts';
import type { ConsoleVisit } from '../visit.ts';

const ACCESS_KINDS: readonly MadeAccess['kind'][] = ['assignment', 'group member', 'member'];

/** What an operator or a key made that still counts; undefined where that is nothing. */
export function madeList(site: Site, visit: ConsoleVisit, made: Made): HtmlPart {
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
        acts.map((act) => text.made.appActs[act]).join(', '),
      ),
    ),
    ...upstreams.map(({ name, acts }) =>
      text.made.upstreamMade(isolate(name), acts.map((act) => text.made.upstreamActs[act]).join(', ')),
    ),
    ...ACCESS_KINDS.flatMap((kind) => {
      const count = access.filter((one) => one.kind === kind).length;
      return count === 0 ? [] : [text.made.accessMade[kind](count)];
    }),
    ...(hasMoreAccess ? [text.made.moreAccess] : []),
  ];
  return listed.length === 0 ? undefined : listed.map((one, index) => html`${index > 0 && ', '}${one}`);
}

/** What goes on, with the choice to end it as well. */
export function endMadeChoice(site: Site, visit: ConsoleVisit, made: Made, isChosen: boolean): HtmlPart {
  const { made: text } = site.messages.operators.operators;
  const listed = madeList(site, visit, made);
  if (listed === undefined) return html`<p class="muted">${text.madeNothing}</p>`;
  return html`<p>${text.goesOn(listed)}</p><label class="check"><input type="checkbox" name="made" value="end"${isChosen && html` checked`}><span>${text.endMade}</span></label>`;
}

/** What ended with it, or goes on. */
export function endedMade(site: Site, visit: ConsoleVisit, made: Made, isEnded: boolean): HtmlPart {
  const { made: text } = site.messages.operators.operators;
  const listed = madeList(site, visit, made);
  if (listed === undefined) return undefined;
  const isChanged = made.apps.some(({ acts }) => acts.includes('redirect URIs'));
  const isKnownAsOther = made.upstreams.some(({ acts }) => acts.includes('client'));
  return html`<p>${isEnded ? text.ended(listed) : text.stays(listed)}</p>${isChanged && html`<p>${text.checkAddresses}</p>`}${isKnownAsOther && html`<p>${text.checkClients}</p>`}`;
}
