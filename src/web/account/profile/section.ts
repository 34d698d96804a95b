import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Mailer } from '../../../mail/mail.ts';
import type { Problems } from '../../../pages/components.ts';
import type { HtmlPart } from '../../../pages/html.ts';
import type { ProfileRowName } from '../../../pages/profile-row.ts';
import type { Pictures } from '../../../pictures/pictures.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import type { AccountFrame } from '../layout.ts';
import type { ProofState } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import type { AccountHooks, AccountVisit } from '../visit.ts';

export type ProfileServices = PageServices & { readonly pictures: Pictures; readonly mail: Mailer };

/** What the rows of the Profile page are made from, read once for all of them. */
export interface ProfileState extends AccountFrame {
  /** Whether a dangerous change has to wait for a fresh proof. */
  readonly proof: ProofState;
  readonly problems: Problems;
  /** The values of the fields: as stored, or as typed where they are not saved. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Answers a form of the Profile page with the page, and what was done or what is wrong. */
export type ShowProfile = (
  reply: FastifyReply,
  status: number,
  visit: AccountVisit,
  result: {
    readonly problems?: Problems;
    readonly done?: HtmlPart;
    /** What was typed and is not saved. */
    readonly typed?: Readonly<Record<string, string>>;
  },
) => FastifyReply | Promise<FastifyReply>;

/** A row of the Profile page. */
export interface ProfileSection {
  readonly name: ProfileRowName;
  /** The fields of its form: it is open where one of them is wrong, or holds what is not saved. */
  readonly fields?: RegExp;
  /** The row as it is for this account. What only it needs, it reads itself. */
  readonly row: (services: ProfileServices, state: ProfileState) => AccountRow | Promise<AccountRow>;
  /** The routes of its form, unless another row has them. */
  readonly routes?: (app: FastifyInstance, services: ProfileServices, hooks: AccountHooks, show: ShowProfile) => void;
}
