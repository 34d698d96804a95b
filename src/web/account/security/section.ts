import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Problems } from '../../../pages/components.ts';
import type { HtmlPart } from '../../../pages/html.ts';
import type { Page } from '../../../pages/layout.ts';
import type { SecurityRowName } from '../../../pages/security-row.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import type { AccountFrame } from '../layout.ts';
import type { ProofState } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import type { AccountHooks, AccountVisit } from '../visit.ts';

/** What the sections of the Security page are made from, read once for all of them. */
export interface SecurityState extends AccountFrame {
  readonly visit: AccountVisit;
  /** The factors of the account, and whether a dangerous change has to wait for a fresh proof. */
  readonly proof: ProofState;
  readonly problems: Problems;
}

/** Answers a form of the Security page with the page, and what was done or what is wrong. */
export type ShowSecurity = (
  reply: FastifyReply,
  status: number,
  visit: AccountVisit,
  result: { readonly problems?: Problems; readonly done?: HtmlPart },
) => Promise<FastifyReply>;

/** A part of the Security page: one file each, listed in `page.ts`. */
export interface SecuritySection {
  /** The name of its row in addresses. */
  readonly name: SecurityRowName;
  /** The row as it is for this account; undefined where there is nothing to offer. What only it needs, it reads itself. */
  readonly row: (
    services: PageServices,
    state: SecurityState,
  ) => AccountRow | undefined | Promise<AccountRow | undefined>;
  /** The scripts that make it more convenient, beside that of every page. */
  readonly scripts?: NonNullable<Page['scripts']>;
  /** The routes of its forms. */
  readonly routes: (app: FastifyInstance, services: PageServices, hooks: AccountHooks, show: ShowSecurity) => void;
}
