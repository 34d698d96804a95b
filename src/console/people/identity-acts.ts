import { getAccount, openAccount } from '../../account-actions/accounts/accounts.ts';
import { removeIdentityOf } from '../../account-actions/upstreams/remove-identity.ts';
import type { Account } from '../../accounts/store.ts';
import { fact, facts, isolate, moment } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { notFound } from '../../platform/failure.ts';
import { type ListedSession, listSessions } from '../../sessions/list.ts';
import { type ConnectedIdentity, listIdentities } from '../../upstreams/identity-store.ts';
import { type ConsoleAct, defineAct, type Given } from '../act.ts';
import type { ConsoleVisit } from '../visit.ts';
import { endsText } from './act-routes.ts';
import { personAddress, REMOVE_IDENTITY } from './frame.ts';

/** A provider that a person connected, and what its removal ends. */
interface Connected {
  readonly account: Account;
  readonly identity: ConnectedIdentity;
  readonly sessions: readonly ListedSession[];
}

async function findIn({ services }: ConsoleVisit, account: Account, given: Given): Promise<Connected> {
  const id = given.get('identity') ?? '';
  const identities = await services.database.read(() => listIdentities({ accountId: account.id }));
  const identity = identities.find((one) => one.id === id);
  if (identity === undefined) throw notFound(services.site.messages.operators.person.identities.unknown);
  return { account, identity, sessions: await listSessions(services, account) };
}

const remove = defineAct<Connected>({
  ...{ address: REMOVE_IDENTITY, section: 'people', permission: 'users.remove_factor' },
  objects: { person: 'id' },
  isDangerous: true,
  find: async (visit, given) => findIn(visit, await getAccount(visit.services, visit.named.id ?? ''), given),
  async open(visit, given) {
    const { services, named, origin } = visit;
    return findIn(visit, await openAccount(services, named.id ?? '', 'identities', origin), given);
  },
  ask({ services: { site } }, { account, identity, sessions }) {
    const { acts, person } = site.messages.operators;
    const { identities: text } = person;
    const { id, profile } = account;
    const name = isolate(identity.upstream);
    return {
      title: text.removal.title(name, isolate(profile.displayName)),
      object: html`${isolate(profile.username)} · <span class="figures">${id}</span>`,
      lead: text.removal.lead,
      fields: facts([
        fact(text.provider, html`${name} <span class="muted">${isolate(identity.issuer)}</span>`, true),
        fact(text.subject, html`<code>${isolate(identity.subject)}</code>`, true),
        fact(text.since, moment(identity.createdAt)),
        fact(acts.stops, endsText(site, sessions), true),
        fact(acts.told, acts.toldPerson, true),
      ]),
      ...{ submit: text.removal.submit, about: { id, identity: identity.id }, back: personAddress(id) },
    };
  },
  async run({ services, origin }, { account, identity }) {
    const { person, back } = services.site.messages.operators;
    const removed = await removeIdentityOf(services, account.id, identity.id, origin);
    if (removed === undefined) throw notFound(person.identities.unknown);
    const who = isolate(account.profile.displayName);
    return {
      title: person.identities.removal.done(isolate(identity.upstream), who),
      now: person.identities.removal.now(removed.sessions),
      ...{ back: personAddress(account.id), backTo: back(who) },
    };
  },
});

/** The acts on the providers that a person connected. */
export const identityActs: readonly ConsoleAct[] = [remove];
