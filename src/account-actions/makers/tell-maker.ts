import { findAccount } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { openInvitationsOfOperator } from '../../invitations/store.ts';
import { mailTexts } from '../../mail/messages.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { enumerated } from '../../platform/date-text.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices, unansweredSince } from '../notices/notices.ts';
import type { SecurityFacts } from '../notices/rules/notice-text.ts';
import { madeBy } from './list-made.ts';

/** Who acts as an operator. */
interface Maker {
  /** The person; null for an admin key, which nobody is told of. */
  readonly accountId: string | null;
  /** The browser in which they act, as far as it is known. */
  readonly facts: SecurityFacts;
}

type TellingServices = SecurityNoticeServices & { readonly database: Database; readonly clock: Clock };

/**
 * The database for acts of operators that hand something out: {@link makingDatabase}, whose units of work tell a person by mail what they
 * made in it. Who stole a session must not make what outlasts it unseen, before an act that is told (decisions §11). Plain
 * invitations, assignments and members are left out: they give no right of an operator, and are made all day.
 */
export function makersDatabase(services: TellingServices, { accountId, facts }: Maker): Database {
  const database = makingDatabase(services.database);
  if (accountId === null) return database;
  return {
    ...database,
    commit<T>(work: () => Work<T>): Promise<T> {
      const since = services.clock();
      return database.commit(function* telling(): Work<T> {
        const result = yield* work();
        yield* tellMade(services, { accountId, facts }, since);
        return result;
      });
    },
  };
}

/** Tells a person what they made since an instant, inside the unit of work in which it was made. It holds the lock of the account. */
function* tellMade(
  services: TellingServices,
  { accountId, facts }: { readonly accountId: string; readonly facts: SecurityFacts },
  since: number,
): Work<void> {
  const now = services.clock();
  const made = yield* nameMadeSince(accountId, since, now);
  const account = made.length === 0 ? undefined : yield* findAccount({ id: accountId });
  if (account === undefined) return;
  const at = yield* accountTime(account, now);
  // What is told was made before: it ends with the report, too.
  const earlier = Math.min(since, yield* unansweredSince(services.sealer, accountId, at));
  for (const what of made) {
    yield* enqueueSecurityNotice(services, account, 'operator act', { ...facts, what }, now, at, earlier);
  }
}

function* nameMadeSince(operatorId: string, since: number, now: number): Work<readonly string[]> {
  const { things } = mailTexts.noticeTexts;
  const { adminKeys, roles, apps, unblockedDomains, settings, upstreams } = yield* madeBy(operatorId, now, since);
  const invitations = yield* openInvitationsOfOperator({ operatorId, since, now });
  const giving = invitations.flatMap(({ role }) => (role === 'OWNER' || role === 'ADMIN' ? [role] : []));
  return [
    ...adminKeys.map(({ name }) => things.adminKey(name)),
    ...roles.map(({ role }) => things.role(role)),
    ...apps.map(({ name, acts }) => (acts.includes('secret') ? things.secret(name) : things.registeredApp(name))),
    ...unblockedDomains.map((domain) => things.unblockedDomain(domain)),
    // What was changed of a provider is told with the provider. Also what was closed is told.
    ...settings.flatMap(({ kind, name, fields, left }) =>
      kind === 'upstream'
        ? []
        : [things.settings[kind](name, enumerated([...new Set([...fields, ...left])], mailTexts.language))],
    ),
    ...[...new Set([...upstreams, ...settings.filter(({ kind }) => kind === 'upstream')].map(({ name }) => name))].map(
      things.upstream,
    ),
    ...giving.map((role) => things.invitation(role)),
  ];
}
