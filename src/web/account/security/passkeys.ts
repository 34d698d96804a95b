import type { FastifyInstance, FastifyReply } from 'fastify';
import { noPasskeysHere, passkeysOfRights, userHandleOf } from '../../../account-actions/authentication/passkey.ts';
import { waysLeft, withoutOne } from '../../../account-actions/factors/last-way-in.ts';
import {
  type AddPasskeyResult,
  addPasskey,
  canSparePasskey,
  isFirstFactor,
  mayAddPasskeys,
  removeOwnPasskey,
  removePassword,
  renamePasskey,
  requestNewPasskey,
} from '../../../account-actions/factors/passkeys.ts';
import type { Renewal } from '../../../account-actions/sign-in/renew-session.ts';
import { endsRecoveryCodes } from '../../../authenticators/factor-store.ts';
import { listPasskeys, type Passkey } from '../../../authenticators/passkey-store.ts';
import { parsePasskeyName } from '../../../authenticators/rules/passkey-name.ts';
import { confirmStep, fact, facts, generalProblem, hidden, isolate, moment } from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { Site } from '../../../pages/layout.ts';
import { PASSKEY_FIELD, passkeyButton, passkeyForm, passkeyProblemText } from '../../../pages/passkey.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { SESSION_LIFETIME } from '../../../sessions/sessions.ts';
import { showNewCodes } from '../../sign-in/new-codes.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { proofGate, requireProof } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import { verifyFirst } from '../verify-first.ts';
import { type AccountHooks, type AccountVisit, visitOf } from '../visit.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';
import { waysLeftList } from './ways-left.ts';

/** The person's passkeys, and adding one. */
export const passkeysSection: SecuritySection = { name: 'passkeys', row, routes, scripts: ['passkeys'] };

const ADDRESS = '/account/security/passkeys';
const REMOVE_PASSWORD = '/account/security/remove-password';

async function row(services: PageServices, state: SecurityState): Promise<AccountRow | undefined> {
  const { site, relyingParty, database } = services;
  if (relyingParty === undefined) return undefined;
  const { account, token, proof } = state;
  const { passkeys: text } = site.messages;
  const { passkeys, isRemovable, endsCodes, ofRights, withoutPasskey, withoutPassword } = await database.read(
    function* read() {
      const isRemovable = yield* canSparePasskey(services, account, proof.factors);
      const ofRights = yield* passkeysOfRights(account.id, services.clock());
      const passkeys = yield* listPasskeys({ accountId: account.id });
      const left = withoutOne(proof.factors, 'passkey');
      const noPassword = withoutOne(proof.factors, 'password');
      return {
        passkeys,
        isRemovable,
        endsCodes: yield* endsRecoveryCodes(services.secondFactor, account, left),
        ofRights,
        withoutPasskey: waysLeftList(site, yield* waysLeft(services, account, left), left),
        withoutPassword: waysLeftList(site, yield* waysLeft(services, account, noPassword), noPassword),
      };
    },
  );
  const add = mayAddPasskeys(services, account)
    ? passkeyForm(site, {
        id: 'add-passkey',
        action: ADDRESS,
        options: `${ADDRESS}/new`,
        kind: 'create',
        token,
        values: { action: 'add' },
        content: html`<p class="muted small" data-without-passkeys>${text.unsupported}</p>${isFirstFactor(proof.factors) && html`<p class="muted small">${site.messages.twoStep.securedLead}</p>`}<div>${passkeyButton('add-passkey', text.add, 'primary')}</div>`,
      })
    : services.secondFactor === 'off'
      ? html`<p>${text.notOffered}</p>`
      : verifyFirst(site, text.verifyAddressFirst);
  if (services.secondFactor === 'off' && passkeys.length === 0) return undefined;
  const known = [...new Set([...passkeys.map(({ id }) => id), ...ofRights])].join(' ');
  const content = html`<p class="muted small">${text.lead}</p>
<span hidden data-accepted-passkeys="${known}" data-rp="${relyingParty.id}" data-user="${userHandleOf(account.id)}"></span>
<div class="apps">${passkeys.map((passkey) => passkeyRow(site, state, passkey, { ways: isRemovable ? withoutPasskey : undefined, endsCodes }))}</div>
${proofGate(site, proof, 'passkeys', add)}
${passkeys.length > 0 && account.passwordHash !== null && !proof.needed && removePasswordForm(site, token, withoutPassword)}`;
  return { title: text.title, state: passkeys.length === 0 ? text.none : text.count(passkeys.length), content };
}

const removePasswordForm = (
  { messages: { passkeys: text, twoStep }, path }: Site,
  token: string,
  ways: Html | undefined,
): Html =>
  html`<hr>${confirmStep(text.removePassword, html`<form method="post" action="${path(REMOVE_PASSWORD)}">${hidden(token)}<p class="small">${text.removePasswordLead} ${twoStep.securedLead}</p>${ways}<div><button class="danger" type="submit">${text.removePasswordYes}</button></div></form>`)}`;

/**
 * @param without.ways with what the person gets in without it; undefined where it is their only way to sign in
 * @param without.endsCodes whether their recovery codes are of no more use without it
 */
function passkeyRow(
  { messages, path }: Site,
  { proof, token }: SecurityState,
  { id, name, backedUp, createdAt, lastUsedAt }: Passkey,
  { ways, endsCodes }: { readonly ways: Html | undefined; readonly endsCodes: boolean },
): Html {
  const { passkeys: text, twoStep } = messages;
  const field = `name-${id}`;
  const form = (action: string, content: Html) =>
    html`<form method="post" action="${path(ADDRESS)}" novalidate>${hidden(token, { action, id })}${content}</form>`;
  const rename = html`<div class="field"><label for="${field}">${text.name}</label><input id="${field}" name="name" type="text" value="${name}" autocomplete="off" maxlength="64" required></div><div><button class="equal" type="submit" aria-label="${text.renameOf(name)}">${text.rename}</button></div>`;
  const remove = html`<p class="small">${text.removeThis(isolate(name))} ${endsCodes && twoStep.codesEnd} ${twoStep.securedLead}</p>${ways}<div><button class="danger" type="submit" aria-label="${text.removeOf(name)}">${text.removeYes}</button></div>`;
  const actions = html`<details><summary>${text.rename}</summary>${form('rename', rename)}</details>
${ways === undefined ? html`<p class="muted small">${text.lastWay}</p>` : confirmStep(text.remove, form('remove', remove))}`;
  return html`<article class="app session" aria-labelledby="${id}"><h3 id="${id}">${isolate(name)}</h3>
${facts([
  fact(text.created, moment(createdAt)),
  fact(text.lastUsed, lastUsedAt === null ? text.never : moment(lastUsedAt)),
  fact(text.kept, backedUp ? text.synced : text.notSynced),
])}
${!proof.needed && actions}</article>`;
}

function routes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks, show: ShowSecurity): void {
  const { site, browsers } = services;
  const { messages } = site;
  const { passkeys: text } = messages;
  const proved = requireProof(services, 'passkeys');

  const problemText = (problem: Extract<AddPasskeyResult, { kind: 'refused' }>['problem']): string => {
    if (problem === 'too many') return text.tooMany;
    return problem === 'exists' ? text.exists : passkeyProblemText(site, problem);
  };

  /** The browser continues in the session that the change started. */
  function renewed(reply: FastifyReply, before: AccountVisit, { account, created }: Renewal): AccountVisit {
    browsers.setSession(reply, created, SESSION_LIFETIME);
    return { ...before, account, session: created.session };
  }

  app.get(`${ADDRESS}/new`, { preHandler: proved }, async (request, reply) => {
    const { account, session, browser } = visitOf(request);
    const owner = { account, session, browser };
    const options = await requestNewPasskey(services, owner, messages.product);
    if (options === undefined) throw noPasskeysHere();
    return reply.header('cache-control', 'no-store').send(options);
  });

  app.post(ADDRESS, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const refuse = (status: number, problem: string) =>
      show(reply, status, visit, { problems: generalProblem(problem) });
    const { account, session, browser, origin } = visit;
    const owner = { account, session, browser, origin };
    const id = form.get('id') ?? '';
    switch (form.get('action')) {
      case 'add': {
        if (!mayAddPasskeys(services, account)) {
          return refuse(403, services.secondFactor === 'off' ? text.notOffered : text.verifyAddressFirst);
        }
        const result = await addPasskey(services, owner, form.get(PASSKEY_FIELD) ?? '');
        if (result.kind === 'refused') return refuse(400, problemText(result.problem));
        const { passkey, renewal } = result;
        const name = isolate(passkey.name);
        if (renewal === undefined) return show(reply, 200, visit, { done: text.added(name) });
        return show(reply, 200, renewed(reply, visit, renewal), { done: text.addedFirst(name) });
      }
      case 'rename': {
        const name = parsePasskeyName(form.get('name') ?? '');
        if (name === undefined) return refuse(400, text.nameBad);
        if (!(await renamePasskey(services, owner, id, name))) return refuse(409, text.removedBefore);
        return show(reply, 200, visit, { done: text.renamed(isolate(name)) });
      }
      case 'remove': {
        const result = await removeOwnPasskey(services, owner, id);
        if (result === 'last way') return refuse(409, text.lastWay);
        if (result === 'unknown') return refuse(409, text.removedBefore);
        return show(reply, 200, renewed(reply, visit, result), { done: text.removed });
      }
      default:
        return refuse(400, messages.account.formExpired);
    }
  });

  app.post(REMOVE_PASSWORD, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const { account, session, browser, origin } = visit;
    const { codes, ...renewal } = await removePassword(services, {
      account,
      session,
      browser,
      origin,
    });
    const after = renewed(reply, visit, renewal);
    if (codes === undefined) return show(reply, 200, after, { done: text.passwordRemoved });
    return showNewCodes(services, request, reply, { account, codes, done: 'password removed' });
  });
}
