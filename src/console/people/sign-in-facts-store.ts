import { type Kysely, sql } from 'kysely';
import { type PersonalFactor, personalFactor } from '../../account-actions/support/help.ts';
import { type LastSignIns, lastSignIns } from '../../audit/last-sign-ins.ts';
import { newestSignInsOf, toSignIn } from '../../audit/sign-in-store.ts';
import { namedFactorsOf } from '../../authenticators/factor-store.ts';
import { constant } from '../../platform/database/columns.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Tables } from '../../platform/database/schema.ts';
import { many } from '../../platform/database/statement.ts';
import { identitiesOf } from '../../upstreams/identity-store.ts';

/** A provider that a person connected. */
export interface ConnectedProvider {
  readonly id: string;
  readonly upstream: string;
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** How a person signs in, and how that went. */
export interface SignInFacts extends LastSignIns {
  readonly factors: readonly PersonalFactor[];
  readonly providers: readonly ConnectedProvider[];
}

/** A factor, a provider, or a sign-in with its address in place of a name. */
interface Row {
  readonly part: 'factor' | 'provider' | 'event';
  /** Of a provider whether it is active. */
  readonly kind: string;
  readonly id: string | null;
  readonly name: string | null;
  readonly at: number | null;
  readonly last_used_at: number | null;
  readonly request_id: string | null;
  readonly details: string;
}

const noText = sql<null>`cast(null as text)`;
const noTime = sql<null>`cast(null as bigint)`.as('last_used_at');
const NO_EVENT = [noText.as('request_id'), noText.as('details')] as const;

const factorRows = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom(namedFactorsOf(db, p).as('factor'))
    .select([constant('factor').as('part'), 'kind', 'id', 'name', 'since as at', noTime, ...NO_EVENT])
    .$castTo<Row>();

const providerRows = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom(identitiesOf(db, p).as('identity'))
    .select([constant('provider').as('part'), 'status as kind', 'id', 'upstream as name', 'createdAt as at'])
    .select(['lastUsedAt as last_used_at', ...NO_EVENT])
    .$castTo<Row>();

const signInRows = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom(newestSignInsOf(db, p).as('event'))
    .select([constant('event').as('part'), 'type as kind', noText.as('id'), 'address as name', 'at', noTime])
    .select(['request_id', 'details'])
    .$castTo<Row>();

const allRows = many((db, p: { accountId: string }) =>
  factorRows(db, p).unionAll(providerRows(db, p)).unionAll(signInRows(db, p)),
);

/** The oldest first, the authenticator app before passkeys. */
const inOrder = (one: Row, other: Row): number =>
  other.kind.localeCompare(one.kind) || (one.at ?? 0) - (other.at ?? 0) || (one.id ?? '').localeCompare(other.id ?? '');

/** How a person signs in, in one statement. */
export function* findSignInFacts(person: { readonly accountId: string }): Work<SignInFacts> {
  const rows = yield* allRows(person);
  const { factor = [], provider = [], event = [] } = Object.groupBy(rows, ({ part }) => part);
  return {
    factors: factor
      .toSorted(inOrder)
      .map(({ kind, id, name, at }) =>
        personalFactor({ kind: kind === 'totp' ? 'totp' : 'passkey', id, name, createdAt: at ?? 0 }),
      ),
    providers: provider
      .toSorted((one, other) => (one.at ?? 0) - (other.at ?? 0))
      .map(({ kind, id, name, at, last_used_at: lastUsedAt }) => ({
        ...{ id: id ?? '', upstream: name ?? '', isActive: kind === 'active', createdAt: at ?? 0, lastUsedAt },
      })),
    ...lastSignIns(
      event.map(({ kind, name: address, ...row }) => ({ type: kind, signIn: toSignIn({ ...row, address }) })),
    ),
  };
}
