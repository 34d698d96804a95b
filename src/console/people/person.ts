import type { FastifyInstance } from 'fastify';
import { type AccountGrant, liveGrantsOf } from '../../access/operator-grant-store.ts';
import { openAccount } from '../../account-actions/accounts/accounts.ts';
import type { Account } from '../../accounts/store.ts';
import type { RecordedSignIn } from '../../audit/sign-in-store.ts';
import { type Permission, takesOver } from '../../operators/permissions.ts';
import type { CannotOpen } from '../../operators/refusal.ts';
import { excessAmong, holds, INSTALLATION, lackingOf, type Operator } from '../../operators/rights.ts';
import { copyable, fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { enumerated } from '../../platform/date-text.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { addressBucket, networkOf } from '../../platform/validation/origin.ts';
import { readableNumber } from '../../platform/validation/phone.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { explainAddress } from '../links.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { actAddress, factorName, offeredActs } from './acts.ts';
import { personPage, removeIdentityAddress } from './frame.ts';
import { offeredRecordActs, RECORD_ACTS } from './record-acts.ts';
import { findSignInFacts, type SignInFacts } from './sign-in-facts-store.ts';

/** What the first page about a person shows. */
interface PersonFacts extends SignInFacts {
  readonly account: Account;
  readonly grants: readonly AccountGrant[];
}

/** The first page about a person: who it is, how they sign in, why it failed, and what can be done. */
export function personRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;

  const config = { permission: 'users.read', objects: { person: 'id' } } as const;
  app.get<{ Params: { id: string } }>('/console/people/:id', { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const { database } = visit.services;
    const account = await openAccount(visit.services, request.params.id, 'record', visit.origin);
    const { id: accountId } = account;
    const found = await database.read(function* read() {
      return {
        account,
        grants: yield* liveGrantsOf(accountId, clock()),
        ...(yield* findSignInFacts({ accountId })),
      };
    });
    return sendPage(
      reply,
      200,
      site,
      personPage(site, visit, account, 'facts', factsContent(services, visit, found), clock()),
    );
  });
}

function factsContent(services: ConsoleServices, visit: ConsoleVisit, found: PersonFacts): Html {
  const { site } = services;
  const { account } = found;
  const text = site.messages.operators.person;
  const { profile } = account;
  const about = facts([
    fact(text.state, stateText(site, account, services.clock())),
    fact(
      text.email,
      html`${isolate(readableEmail(profile.email))} <span class="muted">${profile.emailVerified ? site.messages.person.verified : site.messages.person.notVerified}</span>`,
    ),
    profile.phone !== null && fact(text.phone, html`<span class="figures">${readableNumber(profile.phone)}</span>`),
    ...reasonFacts(site, account),
    operatorFact(site, visit, found.grants),
    fact(text.created, moment(account.createdAt)),
    fact(text.id, copyable(account.id, site.messages.error, text.copyId)),
  ]);
  return html`<section class="card" aria-label="${text.tabs.facts}">${about}${measures(services, visit, found)}</section>
${signIns(site, visit, found)}
${factors(site, visit, found)}`;
}

/** What state an account is in. */
export function stateText({ messages }: Site, account: Account, now: number): HtmlPart {
  const text = messages.operators.person;
  const { bannedUntil, suspendedAt, deletionDueAt } = account;
  const status = accountStatus(account, now);
  if (status === 'banned') {
    return html`<strong class="state">${bannedUntil === null ? text.banned : text.bannedUntil(moment(bannedUntil))}</strong>`;
  }
  if (suspendedAt !== null) return html`<strong class="state">${text.suspended(moment(suspendedAt))}</strong>`;
  if (deletionDueAt !== null) return html`<strong class="state">${text.deletion(moment(deletionDueAt))}</strong>`;
  return text.active;
}

function reasonFacts({ messages }: Site, { bannedAt, banReason, suspendedAt, suspensionReason }: Account): Html[] {
  if (bannedAt === null && suspendedAt === null) return [];
  const { reason, noReason } = messages.operators.person;
  const given = bannedAt === null ? suspensionReason : banReason;
  return [fact(reason, given === null || given === '' ? noReason : isolate(given), true)];
}

function operatorFact({ messages }: Site, { operator }: ConsoleVisit, grants: readonly AccountGrant[]): HtmlPart {
  if (grants.length === 0 || !holds(operator, 'operators.read', INSTALLATION)) return undefined;
  const { roles, inOrganization, person } = messages.operators;
  const names = grants.map(({ role, organizationId }) =>
    organizationId === null ? roles[role] : inOrganization(roles[role]),
  );
  return fact(person.operator, enumerated([...new Set(names)]));
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** When and from where a sign-in was. */
function occasion({ at, address, details }: RecordedSignIn): Html {
  const network = address === null ? undefined : (networkOf(addressBucket(address)) ?? undefined);
  const where = [textOf(details['browser']), textOf(details['system']), network].filter((part) => part !== undefined);
  return html`${moment(at)}${where.length > 0 && html`<br><span class="small muted">${enumerated(where)}</span>`}`;
}

/** The last sign-in, and why the last one failed. */
function signIns({ path, messages }: Site, { operator }: ConsoleVisit, { succeeded, failed }: PersonFacts): Html {
  const text = messages.operators.person;
  const reason = textOf(failed?.details['reason']);
  const known: string | undefined = reason === undefined ? undefined : text.failures[reason];
  const why = known ?? (reason === undefined ? text.noWhy : text.otherFailure(reason));
  const requestId = failed?.requestId ?? undefined;
  const explained =
    requestId !== undefined &&
    holds(operator, 'traces.read', INSTALLATION) &&
    html` <a href="${path(explainAddress(requestId))}">${messages.operators.events.explain}</a>`;
  return html`<section class="card" id="sign-ins"><h2>${text.signIns}</h2>${facts([
    fact(text.lastSignIn, succeeded === undefined ? text.never : occasion(succeeded)),
    fact(text.lastFailure, failed === undefined ? text.noFailure : occasion(failed)),
    failed !== undefined && fact(text.why, html`${why}${explained}`, true),
  ])}</section>`;
}

function factors(site: Site, { operator }: ConsoleVisit, person: PersonFacts): Html {
  const { account, factors: found, providers: connected, grants } = person;
  const { path, messages } = site;
  const text = messages.operators.person;
  const removes =
    holds(operator, 'users.remove_factor', INSTALLATION) && whyCannotOpen(operator, account, grants) === undefined;
  const { passwordHash, passwordSetAt } = account;
  const set = passwordSetAt === null ? text.passwordSet : text.passwordSetAt(moment(passwordSetAt));
  const password = html`<li><div>${text.password}<br><span class="small muted">${passwordHash === null ? text.noPassword : set}</span></div></li>`;
  const rows = found.map((factor) => {
    const name = factorName(site, factor);
    const address = actAddress('remove-factor', { id: account.id, factor: factor.id });
    return html`<li><div>${name}<br><span class="small muted">${text.since(moment(factor.createdAt))}</span></div>${removes && html`<a href="${path(address)}" aria-label="${text.removeOf(factor.name ?? text.app)}">${text.remove}</a>`}</li>`;
  });
  const providers = connected.map(({ id, upstream, isActive, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === null ? text.identities.neverUsed : text.identities.lastUsed(moment(lastUsedAt));
    return html`<li><div>${isolate(upstream)}${!isActive && html` <strong class="state">${text.identities.off}</strong>`}<br><span class="small muted">${text.identities.connected(moment(createdAt))}, ${used}</span></div>${removes && html`<a href="${path(removeIdentityAddress(account.id, id))}" aria-label="${text.removeOf(upstream)}">${text.remove}</a>`}</li>`;
  });
  return html`<section class="card" id="factors"><h2>${text.factors}</h2><ul class="items">${password}${rows}${providers}</ul>${found.length === 0 && html`<p class="muted">${text.noFactors}</p>`}</section>`;
}

/** Why the operator may not change how the person signs in, where the person's record says so. */
function whyCannotOpen(
  operator: Operator,
  { id }: Account,
  grants: readonly AccountGrant[],
): Exclude<CannotOpen['because'], 'given by them' | 'set by them'> | undefined {
  if (operator.id === id) return 'own account';
  return excessAmong(operator, grants) === undefined ? undefined : 'held for longer';
}

/** What the operator may do for the person, or about them. What they may not do is absent. */
function measures(services: ConsoleServices, visit: ConsoleVisit, { account, grants }: PersonFacts): HtmlPart {
  const { site } = services;
  const { path, messages } = site;
  const text = messages.operators.person;
  const because = whyCannotOpen(visit.operator, account, grants);
  const may = (permission: Permission) => because === undefined || !takesOver(permission);
  const offered = offeredActs(services, visit, account);
  const acts = offered.filter(({ permission }) => may(permission));
  const held = offeredRecordActs(account).filter((name) =>
    holds(visit.operator, RECORD_ACTS[name].permission, INSTALLATION),
  );
  // One's own name is corrected here as well.
  const records = held.filter((name) =>
    because === 'own account' ? name === 'correct' : may(RECORD_ACTS[name].permission),
  );
  if (offered.length + held.length === 0) return undefined;
  const lacking = lackingOf(visit.operator, grants);
  const content =
    lacking === undefined
      ? html`<p class="acts">${acts.map(
          ({ name, isDangerous }) =>
            html`<a class="button${isDangerous && ' danger'}" href="${path(actAddress(name, { id: account.id }))}">${messages.operators.acts.act[name].link}</a>`,
        )}${records.map((name) => {
          const { address, isDangerous } = RECORD_ACTS[name];
          return html`<a class="button${isDangerous && ' danger'}" href="${path(`${address}?id=${account.id}`)}">${messages.operators.record[name].link}</a>`;
        })}</p>${because !== undefined && html`<p class="muted">${text.cannotOpen[because]}</p>`}`
      : html`<p>${text.stronger(lacking)}</p>`;
  return html`<div id="help"><h2 class="small">${text.help}</h2>${content}</div>`;
}
