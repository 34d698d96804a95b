import { seedUri } from '../../../account-actions/authentication/totp.ts';
import { withoutOne } from '../../../account-actions/factors/last-way-in.ts';
import type { WayIn } from '../../../authenticators/rules/ways-in.ts';
import {
  confirmStep,
  fact,
  facts,
  field,
  hidden,
  moment,
  type Problems,
  problemSummary,
} from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { Page, Site } from '../../../pages/layout.ts';
import { seedToScan } from '../../../pages/two-step.ts';
import { type AccountFrame, accountLayout } from '../layout.ts';
import { type ProofState, proofGate } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import { verifyFirst } from '../verify-first.ts';
import { waysLeftList } from './ways-left.ts';

/** Where a person sets up an authenticator app. */
export const AUTHENTICATOR = '/account/security/authenticator';
export const REMOVE = '/account/security/authenticator/remove';
export const RECOVERY_CODES = '/account/security/recovery-codes';

/** What a person has set up. */
export interface TwoStepState {
  readonly proof: ProofState;
  readonly codes: { readonly issued: number; readonly left: number };
  /** Whether a recovery by mail asks for a recovery code. */
  readonly codeRequired: boolean;
  /** Whether the person can get in without the authenticator app. */
  readonly isRemovable: boolean;
  /** Whether the recovery codes are of no more use without it. */
  readonly endsCodes: boolean;
  /** How the person gets in without the authenticator app. */
  readonly waysWithoutApp: readonly WayIn[];
  /** Why no authenticator app can be set up; undefined where one can. */
  readonly hindrance: Hindrance | undefined;
}

/** The name of a text. */
export type Hindrance = 'unverified' | 'notOffered';

/** Why no app can be set up, and what to do about it. */
const hindranceText = (site: Site, hindrance: Hindrance): Html =>
  hindrance === 'unverified'
    ? verifyFirst(site, site.messages.twoStep.unverified)
    : html`<p>${site.messages.twoStep[hindrance]}</p>`;

/** So few recovery codes that the person should get new ones. */
const FEW = 3;

/** The row of the authenticator app and the recovery codes. */
export function twoStepRow(site: Site, { token }: Pick<AccountFrame, 'token'>, state: TwoStepState): AccountRow {
  const { messages, path } = site;
  const text = messages.twoStep;
  const { proof, codes, codeRequired, hindrance, isRemovable, endsCodes, waysWithoutApp } = state;
  const app = proof.factors.find(({ kind }) => kind === 'totp');
  const usesCodes = codeRequired || proof.factors.some(({ kind }) => kind !== 'password');
  const setUp = html`<div><a class="button" href="${path(AUTHENTICATOR)}">${app === undefined ? text.setUp : text.replace}</a></div>`;
  const hasPassword = proof.factors.some(({ kind }) => kind === 'password');
  const remove = confirmStep(
    text.remove,
    html`<form method="post" action="${path(REMOVE)}">${hidden(token)}<p class="small">${hasPassword ? text.removeLead : text.removeLeadPasskeys} ${endsCodes && text.codesEnd} ${text.securedLead}</p>${waysLeftList(site, waysWithoutApp, withoutOne(proof.factors, 'totp'))}<div><button class="danger" type="submit">${text.removeYes}</button></div></form>`,
  );
  const getCodes = (lead: string, button: string) =>
    html`<form method="post" action="${path(RECOVERY_CODES)}">${hidden(token)}<p class="small">${lead} ${text.securedLead}</p><div><button class="equal" type="submit">${button}</button></div></form>`;
  const renew =
    codes.issued === 0
      ? getCodes('', text.firstCodes)
      : confirmStep(text.newCodes, getCodes(text.newCodesLead(codes.left), text.newCodesYes));
  const content = html`<p class="muted small">${hasPassword ? text.lead : text.leadWithoutPassword}</p>
${app !== undefined && facts([fact(text.app, text.appSince(moment(app.createdAt)))])}
${app === undefined && hindrance !== undefined ? hindranceText(site, hindrance) : setUp}
${app !== undefined && !proof.needed && (isRemovable ? remove : html`<p class="muted small">${text.lastWay}</p>`)}
${
  usesCodes &&
  html`<hr><header><h3>${text.codes}</h3><p class="muted small">${text.codesLead} ${text.codesLeft(codes.left, codes.issued)}</p></header>
${codes.issued > 0 && codes.left <= FEW && html`<p class="problem">${text.fewLeft(codes.left)}</p>`}
${proofGate(site, proof, 'two-step', renew)}`
}`;
  const stated = codes.issued > 0 && usesCodes ? `${text.codes}: ${text.codesLeft(codes.left, codes.issued)}` : '';
  return { title: text.title, state: `${app === undefined ? text.off : text.on} ${stated}`, content };
}

interface EnrollPage extends AccountFrame {
  readonly seed: string;
  /** The seed for the form, encrypted. */
  readonly sealed: string;
  /** The base URL, by whose host the app names the account. */
  readonly issuer: string;
  readonly replaces: boolean;
  readonly problems: Problems;
}

/** The page on which a person sets up an authenticator app. */
export async function enrollPage(site: Site, page: EnrollPage): Promise<Page> {
  const { messages, path } = site;
  const text = messages.twoStep;
  const { account, token, seed, sealed, issuer, replaces, problems } = page;
  const uri = await seedUri(seed, issuer, account.profile.username);
  return accountLayout(
    site,
    page,
    'security',
    text.enrollTitle,
    html`<header><h1>${text.enrollTitle}</h1></header>
${problemSummary(messages, problems)}
<section class="card">${await seedToScan(site, seed, uri)}</section>
<section class="card"><form method="post" action="${path(AUTHENTICATOR)}" novalidate>${hidden(token, { enrollment: sealed })}
<h2>${text.show}</h2>
${field({ name: 'code', label: messages.verify.totpCode, type: 'text', autocomplete: 'one-time-code', inputMode: 'numeric', value: '', problems })}
<p class="muted small">${text.securedLead}</p>
<div><button class="primary" type="submit">${replaces ? text.confirmReplace : text.confirm}</button></div></form></section>`,
    problems,
  );
}
