import type { Kysely } from 'kysely';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forShare, forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  json,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { containing, matches, type NamedSearch, soughtIds } from '../platform/database/text-search.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { ClaimsMap } from './rules/claims-map.ts';
import type { UpstreamKindName } from './rules/presets.ts';
import type { UpstreamTable } from './tables.ts';

/** Who may create an account with an upstream that vouches for them. */
export const SIGN_UP_MODES = ['nobody', 'invited', 'domains', 'anyone'] as const;
export type UpstreamSignUp = (typeof SIGN_UP_MODES)[number];

const UPSTREAM = {
  id: storedField('id', plain<string>()),
  /** A slug, which is in its redirect URI. */
  name: storedField('name', plain<string>()),
  displayName: storedField('display_name', plain<string>()),
  kind: storedField('kind', plain<UpstreamKindName>()),
  issuer: storedField('issuer', plain<string>()),
  /** Our id there. */
  clientId: storedField('client_id', plain<string>()),
  /** Encrypted: see `openSecret`. Null for a public client. At Apple it is the private key. */
  sealedSecret: storedField('sealed_secret', plain<string | null>()),
  secretExpiresAt: storedField('secret_expires_at', plain<number | null>()),
  /** Of the private key at Apple. */
  teamId: storedField('team_name', plain<string | null>()),
  keyId: storedField('key_name', plain<string | null>()),
  scopes: storedField('scopes', json<readonly string[]>()),
  signUp: storedField('sign_up', plain<UpstreamSignUp>()),
  /** With `domains`: in ASCII and lower case. */
  signUpDomains: storedField('sign_up_domains', json<readonly string[]>()),
  /** For which addresses it is authoritative (decisions §14): in ASCII and lower case. */
  domains: storedField('domains', json<readonly string[]>()),
  /** Which claims are written into accounts. */
  claimsMap: storedField('claims_map', json<ClaimsMap>()),
  /** The buttons are in this order. */
  position: storedField('position', plain<number>()),
  status: storedField('status', plain<'active' | 'disabled'>()),
  /** Another one since it was last disabled. A sign-in that began in an earlier one is not completed. */
  generation: storedField('generation', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  updatedAt: storedField('updated_at', plain<number>()),
} as const;

/** Another provider through which people sign in. */
export type Upstream = Values<typeof UPSTREAM>;

const COLUMNS = columnsOf(UPSTREAM);
const toUpstream: (row: object) => Upstream = decoder(UPSTREAM);

const insert = changes((db, p: UpstreamTable) =>
  db
    .insertInto('upstream')
    .values(pick(p, COLUMNS))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Adds an upstream, unless its name is taken. */
export const insertUpstream = (upstream: Upstream): Work<boolean> => insert(encode(UPSTREAM, upstream));

export const findUpstream = one(
  (db, p: { id: string }) => db.selectFrom('upstream').select(COLUMNS).where('id', '=', p.id),
  toUpstream,
);

/** An upstream, and the organizations that name it, in the order of their ids. */
export interface UpstreamWithOrganizations {
  readonly upstream: Upstream;
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
}

const upstreamByOrganization = many(
  (db, p: { id: string; limit: number }) =>
    db
      .selectFrom('upstream as u')
      .leftJoin('organization_upstream as o', 'o.upstream_id', 'u.id')
      .leftJoin('organization as n', 'n.id', 'o.organization_id')
      .select(COLUMNS.map((column) => `u.${column}` as const))
      .select(['n.id as organizationId', 'n.name as organization'])
      .where('u.id', '=', p.id)
      .orderBy('n.id')
      .limit(p.limit),
  (row) => ({ upstream: toUpstream(row), id: row.organizationId, name: row.organization }),
);

/** {@link UpstreamWithOrganizations}, by one statement. */
export function* findWithOrganizations(search: {
  readonly id: string;
  readonly limit: number;
}): Work<UpstreamWithOrganizations | undefined> {
  const rows = yield* upstreamByOrganization(search);
  const upstream = rows[0]?.upstream;
  const organizations = rows.flatMap(({ id, name }) => (id === null || name === null ? [] : [{ id, name }]));
  return upstream && { upstream, organizations };
}

export const findUpstreamByName = one(
  (db, p: { name: string }) => db.selectFrom('upstream').select(COLUMNS).where('name', '=', p.name),
  toUpstream,
);

/** Reads an upstream that is not changed before the unit of work ends, such as one that is not disabled meanwhile. */
export const holdUpstream = one(
  (db, p: { id: string }) => db.selectFrom('upstream').select(COLUMNS).where('id', '=', p.id).$call(forShare),
  toUpstream,
);

/** Reads an upstream that this unit of work changes or deletes: sign-ins through it come before or after. */
export const lockUpstream = one(
  (db, p: { id: string }) => db.selectFrom('upstream').select(COLUMNS).where('id', '=', p.id).$call(forUpdate),
  toUpstream,
);

/**
 * Locks every upstream, in one order, for a unit of work that changes which domains upstreams have: it waits for another one's domains while it
 * holds its own, so that two of them would wait for each other.
 */
export const lockUpstreams = many(
  (db, _p: object) => db.selectFrom('upstream').select('id').orderBy('id').$call(forUpdate),
  (row) => row.id,
);

/** Locks one upstream in a unit of work that may change its domains: after all of them, as {@link lockUpstreams} says. */
export function* lockAmongAll({ id }: { readonly id: string }): Work<Upstream | undefined> {
  yield* lockUpstreams({});
  return yield* findUpstream({ id });
}

const update = command((db, p: UpstreamTable) =>
  db
    .updateTable('upstream')
    .set({
      display_name: p.display_name,
      client_id: p.client_id,
      sealed_secret: p.sealed_secret,
      secret_expires_at: p.secret_expires_at,
      team_name: p.team_name,
      key_name: p.key_name,
      scopes: p.scopes,
      sign_up: p.sign_up,
      sign_up_domains: p.sign_up_domains,
      domains: p.domains,
      claims_map: p.claims_map,
      position: p.position,
      status: p.status,
      generation: p.generation,
      updated_at: p.updated_at,
    })
    .where('id', '=', p.id),
);

/** An upstream that is disabled from now on: what is under way through it begins again, also where it is enabled meanwhile. */
export const disabled = (upstream: Upstream, now: number): Upstream => ({
  ...upstream,
  ...{ status: 'disabled', generation: randomIdentifier(), updatedAt: now },
});

/** Saves all but the name, the kind and the issuer, which never change: the redirect URI and the identities depend on them. */
export const saveUpstream = (upstream: Upstream): Work<void> => update(encode(UPSTREAM, upstream));

export const removeUpstream = command((db, p: { id: string }) => db.deleteFrom('upstream').where('id', '=', p.id));

export const listUpstreams = many(
  (db, p: { after: string; limit: number }) =>
    db.selectFrom('upstream').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit),
  toUpstream,
);

const nameContains = many(
  (db, p: { pattern: string; asTyped: string; id: string; after: string; limit: number }) =>
    db
      .selectFrom('upstream')
      .select(COLUMNS)
      .where('id', '>', p.after)
      .where((eb) =>
        eb.or([
          eb('id', '=', p.id),
          matches(eb.ref('name'), p.pattern),
          matches(eb.fn<string>('lower', ['display_name']), p.pattern),
          matches(eb.ref('display_name'), p.asTyped),
          // A path has letters of both cases, which LIKE tells apart in PostgreSQL alone.
          matches(eb.fn<string>('lower', ['issuer']), p.pattern),
        ]),
      )
      .orderBy('id')
      .limit(p.limit),
  toUpstream,
);

/** The upstreams whose name or issuer contains a text, or whose id it is, in the order of their ids. */
export const findUpstreamsContaining = ({
  text,
  ...page
}: {
  readonly text: string;
  readonly after: string;
  readonly limit: number;
}): Work<readonly Upstream[]> =>
  nameContains({
    ...page,
    pattern: containing(text.toLowerCase()),
    asTyped: containing(text),
    id: isSnowflake(text) ? text : '0',
  });

/** Upstreams for a search of everything. */
export const namedUpstreams = (db: Kysely<Tables>, p: NamedSearch) =>
  db
    .selectFrom(soughtIds(db, 'upstream', p))
    .innerJoin('upstream as u', 'u.id', 'sought.id')
    .select(['u.id', 'u.display_name as name', 'u.issuer as note'])
    .where((eb) =>
      eb.or([
        eb('u.id', '=', p.id),
        matches(eb.ref('u.name'), p.pattern),
        matches(eb.fn<string>('lower', ['u.display_name']), p.pattern),
        matches(eb.ref('u.display_name'), p.asTyped),
        matches(eb.fn<string>('lower', ['u.issuer']), p.pattern),
      ]),
    )
    .orderBy('u.id')
    .limit(p.limit);

/** More than fit on a page. */
const MOST_BUTTONS = 20;

/** The upstreams that people can use, in the order of their buttons. */
export const listActiveUpstreams = many(
  (db, _p: object) =>
    db
      .selectFrom('upstream')
      .select(COLUMNS)
      .where('status', '=', 'active')
      .orderBy('position')
      .orderBy('id')
      .limit(MOST_BUTTONS),
  toUpstream,
);
