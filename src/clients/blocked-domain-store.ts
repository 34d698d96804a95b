import { columnsOf, command, decoder, many, one, plain, storedField } from '../platform/database/statement.ts';

/** A domain whose metadata documents are refused. */
export interface BlockedDomain {
  readonly domain: string;
  readonly createdAt: number;
  /** Who blocked it; null for the command line on the server. */
  readonly blockedBy: string | null;
}

const DOMAIN = {
  domain: storedField('domain', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  blockedBy: storedField('operator_id', plain<string | null>()),
} as const;

const COLUMNS = columnsOf(DOMAIN);
const toBlocked: (row: object) => BlockedDomain = decoder(DOMAIN);

export const insertDomain = one(
  (db, p: BlockedDomain) =>
    db
      .insertInto('blocked_client_domain')
      .values({ domain: p.domain, created_at: p.createdAt, operator_id: p.blockedBy })
      .onConflict((conflict) => conflict.doNothing())
      .returning(COLUMNS),
  toBlocked,
);
export const findDomain = one(
  (db, p: { domain: string }) => db.selectFrom('blocked_client_domain').select(COLUMNS).where('domain', '=', p.domain),
  toBlocked,
);
export const removeDomain = one(
  (db, p: { domain: string }) =>
    db.deleteFrom('blocked_client_domain').where('domain', '=', p.domain).returning(COLUMNS),
  toBlocked,
);
export const listDomains = many(
  (db, p: { after: string; limit: number }) =>
    db
      .selectFrom('blocked_client_domain')
      .select(COLUMNS)
      .where('domain', '>', p.after)
      .orderBy('domain')
      .limit(p.limit),
  toBlocked,
);

/** A domain that an operator unblocked, as it was before. */
interface UnblockedDomain extends BlockedDomain {
  readonly operatorId: string;
  readonly unblockedAt: number;
}

const UNBLOCKED = {
  domain: storedField('domain', plain<string>()),
  operatorId: storedField('operator_id', plain<string>()),
  unblockedAt: storedField('unblocked_at', plain<number>()),
  blockedBy: storedField('blocker_id', plain<string | null>()),
  createdAt: storedField('blocked_at', plain<number>()),
} as const;

const toUnblocked: (row: object) => UnblockedDomain = decoder(UNBLOCKED);

/** Keeps who unblocked a domain, until it is blocked again. */
export const insertUnblocked = command((db, p: UnblockedDomain) => {
  const row = {
    operator_id: p.operatorId,
    unblocked_at: p.unblockedAt,
    blocker_id: p.blockedBy,
    blocked_at: p.createdAt,
  };
  return db
    .insertInto('unblocked_client_domain')
    .values({ domain: p.domain, ...row })
    .onConflict((conflict) => conflict.column('domain').doUpdateSet(row));
});

/** Forgets who unblocked a domain. */
export const removeUnblocked = command((db, p: { domain: string }) =>
  db.deleteFrom('unblocked_client_domain').where('domain', '=', p.domain),
);

/** The domains that an operator unblocked from one instant on, and before another one, and that nobody has blocked since. */
export const unblockedBy = many(
  (db, p: { operatorId: string; since: number; until: number }) =>
    db
      .selectFrom('unblocked_client_domain')
      .select(columnsOf(UNBLOCKED))
      .where('operator_id', '=', p.operatorId)
      .where('unblocked_at', '>=', p.since)
      .where('unblocked_at', '<', p.until)
      .orderBy('domain'),
  toUnblocked,
);
