import { sql } from 'kysely';
import { constant, negated } from '../platform/database/columns.ts';
import { columnsOf, decoder, json, many, plain, storedField, type Values } from '../platform/database/statement.ts';
import { type ActivityType, activityTypes } from './audit.ts';

const ACTIVITY = {
  id: storedField('id', plain<string>()),
  at: storedField('at', plain<number>()),
  type: storedField('type', plain<ActivityType>()),
  /** Who acted, such as `user` or `admin`. */
  actor: storedField('actor_type', plain<string>()),
  address: storedField('address', plain<string | null>()),
  details: storedField('details', json<Readonly<Record<string, unknown>>>()),
} as const;
/** The app that it is about; null where there is none, or it was deleted. */
const APP = { app: storedField('name', plain<string | null>()) } as const;

/** An event of an account, as its owner sees it. */
export type Activity = Values<typeof ACTIVITY & typeof APP>;

/** Whether an operator did it: with an admin key, on the server, or in a role, as a person who signed in. */
export const isByOperator = ({ actor, details }: Pick<Activity, 'actor' | 'details'>): boolean =>
  actor === 'admin' || actor === 'cli' || typeof details['actorRole'] === 'string';

/** As in the condition of the index `audit_event_of_account`: another condition would go through all events. Never changed. */
export const NOT_INDEXED = [
  'authorization.issued',
  'token.issued',
  'token.refreshed',
  'token.repeated',
  'token.refused',
  'token.revoked',
] as const;

/** The `before` of the newest events. */
export const NEWEST_ACTIVITY = '9223372036854775807';

/** The kinds of events that people look for, by how their types begin. */
const KINDS = {
  'sign-ins': /^(sign_in\.|sign_out$|session\.|browser\.|upstream\.|account\.signed_out)/,
  account: /^(account\.(?!signed_out)|passkey\.|recovery\.|export\.|operator\.)/,
  apps: /^(consent\.|access\.)/,
  organization: /^(organization\.|group\.)/,
} as const;
export type ActivityKind = keyof typeof KINDS;
export const ACTIVITY_KINDS = Object.keys(KINDS) as readonly ActivityKind[];

const listOf = (types: readonly ActivityType[]) =>
  many(
    (db, p: { accountId: string; before: string; limit: number }) =>
      db
        .selectFrom('audit_event as e')
        .leftJoin('client as c', 'c.id', 'e.client_id')
        .select(columnsOf(ACTIVITY).map((column) => `e.${column}` as const))
        .select('c.name')
        .where('e.account_id', '=', p.accountId)
        .where(negated('e.id'), '>', sql<number>`-cast(${p.before} as bigint)`)
        .where('e.type', 'not in', NOT_INDEXED.map(constant))
        .where('e.type', 'in', types.map(constant))
        .orderBy(negated('e.id'))
        .limit(p.limit),
    decoder({ ...ACTIVITY, ...APP }),
  );

/** Events of an account before one, newest first. */
export const listActivity = listOf(activityTypes);

/** Those of one kind. */
export const listActivityOf = Object.fromEntries(
  ACTIVITY_KINDS.map((kind) => [kind, listOf(activityTypes.filter((type) => KINDS[kind].test(type)))]),
) as Readonly<Record<ActivityKind, typeof listActivity>>;
