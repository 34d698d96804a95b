import { readFileSync } from 'node:fs';
import { BULK_ACT_KEPT } from '../src/account-actions/bulk/lists.ts';
import { EXPORT_LIFETIME } from '../src/account-actions/personal-data/export.ts';
import { RECOVERY_LIFETIME } from '../src/account-actions/recovery/begin.ts';
import { PENDING_SIGN_IN_LIFETIME } from '../src/account-actions/sign-in/sign-in.ts';
import { OPENING_REVIEWED_AFTER } from '../src/accounts/opening-store.ts';
import { KEPT } from '../src/operations/housekeeping/rules/retention.ts';
import { RIGHT_REVIEWED_AFTER } from '../src/operators/given-right-store.ts';
import { DAY, HOUR, MINUTE, NODE_CLOCK_TOLERANCE } from '../src/platform/clock.ts';
import type { Tables } from '../src/platform/database/schema.ts';
import { INTERACTION_LIFETIME } from '../src/protocol/authorize/store-request.ts';
import { DEVICE_LIFETIME } from '../src/protocol/device/start.ts';
import { ACCESS_LIFETIME } from '../src/protocol/token/rules/claims.ts';
import { IDLE_TIMEOUT, SESSION_LIFETIME } from '../src/sessions/sessions.ts';
import { variables } from '../src/settings/config.ts';

/** What a table holds, and for how long. */
interface Retention {
  readonly holds: string;
  readonly until: string;
  readonly why: string;
  /** For how many days rows are usually kept, where what people do adds rows; null where only people and apps themselves do. */
  readonly days: number | null;
}

/** A duration in the largest unit that divides it. */
function span(milliseconds: number): string {
  for (const [unit, name] of [
    [DAY, 'day'],
    [HOUR, 'hour'],
    [MINUTE, 'minute'],
  ] as const) {
    const count = milliseconds / unit;
    if (Number.isInteger(count)) return `${count} ${name}${count === 1 ? '' : 's'}`;
  }
  throw new Error(`${milliseconds} ms is no whole number of minutes`);
}

const inDays = (milliseconds: number): number => milliseconds / DAY;
const WITH_ACCOUNT = 'The account is deleted';
const WITH_APP = 'The app is deleted';
const GOES_BY = 'It goes by time';

/** Every table: a test compares it with the schema. */
export const retention: Readonly<Record<keyof Tables, Retention>> = {
  audit_event: {
    holds: 'What happened',
    until: `\`${variables.auditRetention.name}\` (400 days by default), on PostgreSQL up to 39 days longer, because a month of a large trail is dropped as a whole; the removal is an event itself`,
    why: 'Accountability, and the same month of the year before',
    days: 400,
  },
  token_family: {
    holds: 'What tokens were issued from an authorization, and from which network a public client last got some',
    until: `Its last token has expired (7 days after the last refresh) and its browser session is over, plus ${span(NODE_CLOCK_TOLERANCE)}`,
    why: 'Only it tells a revoked token from a valid one, and detects reuse',
    days: inDays(IDLE_TIMEOUT),
  },
  authorization_code: {
    holds: 'Authorization codes, as hashes',
    until: `Its token family is removed; one that was not redeemed, ${span(KEPT.unredeemedCode)} after it expired`,
    why: 'A second use revokes what the first one gave',
    days: inDays(IDLE_TIMEOUT),
  },
  browser_session: {
    holds: 'Sign-ins of browsers',
    until: `It was not used for ${span(IDLE_TIMEOUT)}, or ${span(SESSION_LIFETIME)} after the sign-in`,
    why: 'The person stays signed in',
    days: inDays(IDLE_TIMEOUT),
  },
  known_browser: {
    holds: 'Browsers in which a person has signed in before',
    until: `${span(KEPT.knownBrowser)} after the last use`,
    why: 'A sign-in in a new browser is announced to its owner, and counted apart',
    days: inDays(KEPT.knownBrowser),
  },
  interaction: {
    holds: 'Authorization requests that are in progress',
    until: `${span(INTERACTION_LIFETIME)} after they began`,
    why: 'Sign-in and consent take their time',
    days: inDays(INTERACTION_LIFETIME),
  },
  device_authorization: {
    holds: 'Devices that wait for a person in a browser, as hashes of their codes',
    until: `${span(DEVICE_LIFETIME)} after they asked, plus ${span(KEPT.deviceCode)}`,
    why: 'The person looks for a browser, signs in and decides; afterwards the device is told that its code has expired',
    days: inDays(DEVICE_LIFETIME + KEPT.deviceCode),
  },
  client_api_scope: {
    holds: 'The scopes of APIs that apps may request',
    until: 'Taken away, or the app or the API is deleted',
    why: 'Tokens have them only as long as the row is there',
    days: null,
  },
  scope_request: {
    holds: 'Scopes that developers ask operators for, why, and what was answered',
    until: 'The app or the account that asked is deleted',
    why: 'The newest fifty of each app',
    days: null,
  },
  client_token: {
    holds: 'Access tokens of apps themselves (`client_credentials`)',
    until: `They expire, after ${ACCESS_LIFETIME / 60} minutes`,
    why: 'They can be revoked',
    days: ACCESS_LIFETIME / 86_400,
  },
  client_assertion: {
    holds: 'Assertions that apps have used to authenticate',
    until: `They expire, plus ${span(KEPT.assertion)}`,
    why: 'None is accepted twice',
    days: inDays(15 * MINUTE),
  },
  trace_step: {
    holds: 'Steps of authorizations, for `tessera explain`',
    until: `\`${variables.traceRetention.name}\` (1 day by default), and no more than the newest few thousand of each app`,
    why: 'They lead from an error to its reason',
    days: 1,
  },
  rate_count: {
    holds: 'Counts of rate limits, and claims of periodic work',
    until: 'The window of the limit is over',
    why: 'All nodes count together',
    days: inDays(HOUR),
  },
  pending_sign_in: {
    holds: 'Sign-ins that wait for a second factor, with what a provider says of the person by its map',
    until: `${span(PENDING_SIGN_IN_LIFETIME)} after the first factor`,
    why: GOES_BY,
    days: inDays(PENDING_SIGN_IN_LIFETIME),
  },
  challenge: {
    holds: 'Links and codes that were sent by mail, as hashes',
    until: `They expire: ${span(RECOVERY_LIFETIME)} for a recovery, at most 7 days for reports`,
    why: GOES_BY,
    days: inDays(RECOVERY_LIFETIME),
  },
  trusted_browser: {
    holds: 'Browsers in which the second factor is not asked for',
    until: `\`${variables.trustedBrowsers.name}\` (30 days by default)`,
    why: 'The choice of the person',
    days: 30,
  },
  address_change: {
    holds: 'Earlier email addresses',
    until: '7 days after the change, or the deletion of the account',
    why: 'The owner of the address can undo the change',
    days: 7,
  },
  replaced_value: {
    holds:
      'Usernames, authenticator apps (encrypted), recovery codes (as keyed digests) and passkeys (their public keys) that accounts had before',
    until:
      '28 days after they were replaced or removed, 366 days after they were set aside for a recovery, or the deletion of the account',
    why: 'The owner who takes an account back has them again',
    days: 28,
  },
  username_reservation: {
    holds: 'Usernames that were given up',
    until: '90 days after that',
    why: 'Nobody can pose as the former owner',
    days: 90,
  },
  invitation: {
    holds: 'Invitations',
    until: `${span(KEPT.invitation)} after they expired, used ones as well`,
    why: 'Operators see what became of them',
    days: inDays(KEPT.invitation),
  },
  mail: {
    holds: 'Messages that wait or were sent; the content only until they are sent',
    until: '1 day after they were sent, 14 days after they were given up',
    why: '`tessera mail` shows what became of them',
    days: 1,
  },
  mail_request: {
    holds: 'Messages that were asked for and are not made yet',
    until: `They are made, or ${span(KEPT.mailRequest)} after the request`,
    why: 'The response does not depend on whether there is an account',
    days: inDays(KEPT.mailRequest),
  },
  logout_notice: {
    holds: 'Apps that must be notified of the end of a session',
    until: 'They are notified, or given up after a day',
    why: 'An app that is down is notified later',
    days: 1,
  },
  data_export: {
    holds: 'Copies that people asked for of their data',
    until: `${span(EXPORT_LIFETIME)} after the request`,
    why: 'The person downloads it',
    days: inDays(EXPORT_LIFETIME),
  },
  data_export_piece: {
    holds: 'Their content, encrypted',
    until: 'As above',
    why: 'As above',
    days: inDays(EXPORT_LIFETIME),
  },
  bulk_act: {
    holds: 'Acts of operators on many people',
    until: `${span(BULK_ACT_KEPT)} after the list was made; a list that was not used, an hour`,
    why: 'The operator sees what was done, and to whom',
    days: inDays(BULK_ACT_KEPT),
  },
  bulk_act_person: {
    holds: 'The people on their lists, and what became of each',
    until: `As above, or until the account is deleted`,
    why: 'As above; and an act that was interrupted goes on where it was',
    days: inDays(BULK_ACT_KEPT),
  },
  consent_revocation: {
    holds: 'When a person last took the access of an app away',
    until: 'The account or the app is deleted',
    why: 'A consent page that was open then is shown again, and no operator consents for the person',
    days: null,
  },
  consent_grant: {
    holds: 'What people allowed',
    until: `The account or the app is deleted; a revoked one, ${span(KEPT.revokedGrant)} after the revocation`,
    why: 'The person is not asked again, and tokens are refused with the right reason',
    days: null,
  },
  playground_visit: {
    holds: 'Visits to the playground, encrypted',
    until: '1 hour after they began, with their temporary app',
    why: GOES_BY,
    days: inDays(HOUR),
  },
  setup_link: {
    holds: 'The digest of the link with which the first owner of the installation makes their account',
    until: 'It is used, or another one takes its place',
    why: 'There is one at a time, and it works for an hour',
    days: null,
  },
  account: {
    holds: 'Accounts',
    until: 'The operator deletes it, or 14 days after the person asked for it',
    why: 'The person can come back in these 14 days',
    days: null,
  },
  membership: {
    holds: 'Members of organizations',
    until: WITH_ACCOUNT,
    why: 'At most one for each account',
    days: null,
  },
  organization: { holds: 'Organizations', until: 'The operator deletes it', why: 'Operators create them', days: null },
  user_group: { holds: 'Groups', until: 'The operator deletes it', why: 'Operators create them', days: null },
  group_member: {
    holds: 'Members of groups',
    until: 'The person leaves the group, or the group or the account is deleted',
    why: 'Operators add them',
    days: null,
  },
  app_assignment: {
    holds: 'Who may use which app',
    until: 'The operator takes it away, or its person, group, organization or app is deleted',
    why: 'Operators add them',
    days: null,
  },
  totp_secret: {
    holds: 'Authenticator apps, encrypted',
    until: WITH_ACCOUNT,
    why: 'At most one for each account',
    days: null,
  },
  recovery_code: {
    holds: 'Recovery codes, as hashes',
    until: WITH_ACCOUNT,
    why: 'At most ten for each account',
    days: null,
  },
  passkey: { holds: 'Passkeys', until: WITH_ACCOUNT, why: 'At most twenty for each account', days: null },
  upstream: {
    holds: 'Other providers through which people sign in; the secrets there encrypted',
    until: 'The operator deletes it',
    why: 'Operators register them',
    days: null,
  },
  organization_upstream: {
    holds: 'Through which provider alone the members of an organization use its apps',
    until: 'An operator takes it back, or deletes the organization',
    why: 'It is asked whenever a code is issued to a member',
    days: null,
  },
  upstream_domain: {
    holds: 'For which domains of addresses other providers are authoritative',
    until: 'An operator takes it from the provider, or deletes that',
    why: 'The sign-in page leads their people to it',
    days: null,
  },
  account_act: {
    holds:
      'Which operators created an account, changed its address, password or username, removed a factor, or let it in again, and when',
    until: WITH_ACCOUNT,
    why: 'What was done with a stolen key or account is found by it; of each kind the last act',
    days: null,
  },
  upstream_act: {
    holds: 'Which operators registered, enabled or changed other providers, when, and what their last changes replaced',
    until: 'An operator deletes the provider',
    why: 'What was done with a stolen key or account ends with it; at most four for each operator and provider',
    days: null,
  },
  upstream_identity: {
    holds: 'Who is known at such a provider as whom',
    until: 'The person disconnects it, or the provider or the account is deleted',
    why: 'At most twenty for each account',
    days: null,
  },
  upstream_session: {
    holds: 'Which sessions began there',
    until: '121 days after the sign-in, when no token of the session can live any more',
    why: 'They end when the provider says so',
    days: 121,
  },
  recovery_setting: {
    holds: 'Choices about recovery',
    until: WITH_ACCOUNT,
    why: 'At most one for each account',
    days: null,
  },
  picture: { holds: 'Pictures', until: 'The account or the app is deleted', why: 'At most one for each', days: null },
  client: {
    holds: 'Apps',
    until:
      'The operator deletes it, or it deletes itself; one that registered itself openly also 30 days after nobody allows it',
    why: 'Operators register them, people allow them by their metadata documents, or they register themselves: at most 5000 that nobody has allowed',
    days: null,
  },
  client_secret: {
    holds: 'Secrets of apps, as hashes',
    until: WITH_APP,
    why: 'At most two for each app that are valid, and the newest five that are not, so that the use of an old secret can be explained',
    days: null,
  },
  client_act: {
    holds: 'Which operators registered an app, added its secrets or approved it, and when',
    until: 'The app is deleted; of a secret, also when it is ended',
    why: 'What was done with a stolen key or account ends with it',
    days: null,
  },
  upstream_effect: {
    holds:
      'Which accounts were created, changed or added to groups through another provider by what operators had done to it, and when',
    until: WITH_ACCOUNT,
    why: 'What a stolen key let in is found by it; two for each account and operator, and one for each membership',
    days: null,
  },
  setting_change: {
    holds:
      'Which operators changed settings of apps, organizations and groups that may let somebody in, when, and what these were before',
    until: 'The app, the organization or the group is deleted',
    why: 'What was opened with a stolen key or account is closed with what else it made, and what was closed is listed; ten changes for each operator and record',
    days: null,
  },
  right_change: {
    holds:
      'Which operators changed or took away roles, memberships and assignments that somebody had, when, and what these were before',
    until: `${span(KEPT.rightChange)} after the change`,
    why: 'What was raised with a stolen key or account is as it was before with the end of what else it made, and what it took away is listed',
    days: inDays(KEPT.rightChange),
  },
  client_origin: { holds: 'Where apps run in a browser', until: WITH_APP, why: 'Of their redirect URIs', days: null },
  blocked_client_domain: {
    holds: 'Domains whose apps may neither identify themselves by a metadata document nor register themselves',
    until: 'An operator unblocks them',
    why: 'Their apps are refused',
    days: null,
  },
  unblocked_client_domain: {
    holds: 'Which operators unblocked such domains, and had blocked them, and when',
    until: 'The domain is blocked again',
    why: 'What was unblocked with a stolen key or account is blocked again with the end of what else it made; one for each domain',
    days: null,
  },
  event_count: {
    holds: 'How many sign-ins, tokens and refusals there were in each hour, by reason and app',
    until: '35 days after the hour',
    why: 'The overview of the console',
    days: 35,
  },
  counted_event: {
    holds: 'Up to which event of the audit trail that is counted',
    until: 'Never: it is one row',
    why: 'No event is counted twice',
    days: null,
  },
  idempotent_request: {
    holds: 'Answers of the admin API to requests with an `Idempotency-Key`, encrypted',
    until: 'A day after the request',
    why: 'The same request gets the same answer',
    days: 1,
  },
  initial_access_token: {
    holds: 'Tokens with which apps may register themselves, as hashes',
    until: 'Never; those that ended stay listed',
    why: 'Operators create them',
    days: null,
  },
  operator_grant: {
    holds: 'The roles of operators',
    until: `They are taken away; ${WITH_ACCOUNT.toLowerCase()}`,
    why: 'Who may do what in the admin API',
    days: null,
  },
  given_right: {
    holds: 'Which rights operators gave, to whom and when',
    until: `The right has ended and nothing is left that its holder made, looked at every ${span(RIGHT_REVIEWED_AFTER)}`,
    why: 'What rests on a stolen key or account ends with it, also where a link between was removed; they let nobody in',
    days: null,
  },
  status_change: {
    holds: 'Who banned or suspended an account, or let it in again, and what barred it before, with the reason',
    until: `${span(KEPT.statusChange)} after the decision; ${WITH_ACCOUNT.toLowerCase()}`,
    why: 'Whom a stolen key or account let in is barred as before with the end of what else it made',
    days: inDays(KEPT.statusChange),
  },
  account_opening: {
    holds:
      'When operators set how a person signs in (a password, an address, no authenticator app, a recovery, a provider that they registered or enabled), or let one in again who was barred, and until when that counts',
    until: `Its owner took the account back, or it was deleted, and nothing is left that was made through it, looked at every ${span(OPENING_REVIEWED_AFTER)}`,
    why: 'What was made through the account of a colleague ends with the stolen key or account that opened it',
    days: null,
  },
  admin_key: {
    holds: 'Admin keys, as hashes',
    until: 'Never; revoked ones stay listed',
    why: 'Operators create them',
    days: null,
  },
  signing_key: {
    holds: 'Keys of access and refresh tokens, encrypted',
    until: '8 days after the next one took over',
    why: 'Tokens with the former key are valid that long',
    days: null,
  },
  id_token_key: {
    holds: 'Keys of ID tokens, encrypted',
    until: 'Their tokens have expired, and the next one has taken over',
    why: 'Apps verify ID tokens with them',
    days: null,
  },
  key_set: { holds: 'The version of the keys', until: 'Never', why: 'One row', days: null },
  data_key: { holds: 'The key of what is encrypted for people', until: 'Never', why: 'One row', days: null },
  node_lease: { holds: 'Numbers of nodes', until: 'Never; they are used again', why: 'At most 1,024', days: null },
  configured_admin_key: {
    holds: 'The hash of `TESSERA_ADMIN_KEY`, as the newest start had it',
    until: 'Never',
    why: 'One row: what another key handed out ends',
    days: null,
  },
  known_server: {
    holds: 'On which PostgreSQL server the data is complete',
    until: 'Never',
    why: 'One row',
    days: null,
  },
  schema_migration: {
    holds: 'Which migrations ran, and which versions they need',
    until: 'Never',
    why: 'One for each migration',
    days: null,
  },
  migration_progress: {
    holds: 'How far a migration is that changes many rows',
    until: 'It is complete',
    why: 'An interrupted one continues where it was',
    days: null,
  },
};

type Growth = Readonly<Record<string, { readonly rows: number; readonly bytes: number }>>;

/** What `npm run growth` writes: see lab/growth/run.ts. */
interface Measured {
  readonly processors: number;
  readonly acts: number;
  readonly rows: number;
  readonly growth: Readonly<Record<string, Readonly<Record<string, Growth>>>>;
  readonly removal: Readonly<
    Record<string, readonly { readonly table: string; readonly rowsPerSecond: number; readonly delay: number }[]>
  >;
}

/** What a hundred acts consist of. */
const MIX = { 'sign-in': 20, authorization: 10, refresh: 60, revocation: 5, 'client token': 5 } as const;

const measured = JSON.parse(readFileSync(new URL('growth.json', import.meta.url), 'utf8')) as Measured;

/** What one act of the mix adds to each table, in bytes. */
function bytesOfMix(growth: Readonly<Record<string, Growth>>): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>();
  for (const [act, share] of Object.entries(MIX)) {
    for (const [table, { bytes: each }] of Object.entries(growth[act] ?? {})) {
      bytes.set(table, (bytes.get(table) ?? 0) + (each * share) / 100);
    }
  }
  return bytes;
}

const ACTS_A_DAY = 86_400;
/** The steps of a trace are bounded by their number, not by the load. */
const BOUNDED_BY_NUMBER = new Set(['trace_step']);

function size(bytes: number): string {
  for (const [unit, name] of [
    [1e12, 'TB'],
    [1e9, 'GB'],
    [1e6, 'MB'],
  ] as const) {
    if (bytes >= unit) return `${Number((bytes / unit).toPrecision(2))} ${name}`;
  }
  return `${Math.round(bytes / 1000)} kB`;
}

const isKnown = (table: string): table is keyof Tables => table in retention;

function growthTable(store: string): string {
  const rows: string[] = [];
  const totals = { act: 0, day: 0, ten: 0, hundred: 0 };
  for (const [table, bytes] of [...bytesOfMix(measured.growth[store] ?? {})].sort(([, a], [, b]) => b - a)) {
    const days = isKnown(table) ? retention[table].days : null;
    if (days === null || bytes < 1 || BOUNDED_BY_NUMBER.has(table)) continue;
    const day = bytes * ACTS_A_DAY;
    totals.act += bytes;
    totals.day += day * 10;
    totals.ten += day * 10 * days;
    totals.hundred += day * 100 * days;
    rows.push(
      `| \`${table}\` | ${Math.round(bytes)} | ${size(day * 10)} | ${size(day * 100)} | ${size(day * 10 * days)} | ${size(day * 100 * days)} |`,
    );
  }
  rows.push(
    `| **All** | ${Math.round(totals.act)} | ${size(totals.day)} | ${size(totals.day * 10)} | ${size(totals.ten)} | ${size(totals.hundred)} |`,
  );
  return rows.join('\n');
}

const actsTable = (): string =>
  Object.entries(MIX)
    .map(([act, share]) => {
      const total = (store: string) =>
        Object.values(measured.growth[store]?.[act] ?? {}).reduce((sum, { bytes }) => sum + bytes, 0);
      return `| ${act} | ${share} | ${total('SQLite')} | ${total('PostgreSQL')} |`;
    })
    .join('\n');

const removalTable = (): string =>
  (measured.removal['SQLite'] ?? [])
    .map(({ table, rowsPerSecond, delay }, index) => {
      const other = measured.removal['PostgreSQL']?.[index];
      return `| \`${table}\` | ${rowsPerSecond} | ${delay} | ${other?.rowsPerSecond} | ${other?.delay} |`;
    })
    .join('\n');

/** The page about what is kept. */
export const retentionPage = (note: string): string => `${note}

# Retention

What Tessera stores, until when, and how much that comes to. Every row that nothing can be decided by any more is removed within a minute
or two. A removal changes no response: validity is computed from the clock whenever it matters
([why](../../src/operations/housekeeping/README.md#a-row-goes-when-nothing-can-be-decided-by-it)).

## What is kept

| Table | Holds | Until | Why |
|---|---|---|---|
${Object.entries(retention)
  .map(([table, { holds, until, why }]) => `| \`${table}\` | ${holds} | ${until} | ${why} |`)
  .join('\n')}

Two [settings](configuration.md) decide how long the largest parts are kept: \`${variables.auditRetention.name}\` and
\`${variables.traceRetention.name}\`. [Keep the database small](../how-to/keep-the-database-small.md) says what to choose and what to
watch. What remains of a deleted account is in [Look after people](../how-to/look-after-people.md#delete-an-account).

## How much that is

Measured with \`npm run growth\`: each act ${measured.acts} times, and how much the tables and their indexes grew, in bytes. A sign-in is a whole
authorization in a new browser, with its exchange; an authorization is one in a browser that is signed in.

| Act | Of 100 acts | SQLite | PostgreSQL |
|---|---|---|---|
${actsTable()}

For such a mix of acts, all day long: what the tables grow by in a day, and how large they are in the long run, when as much is removed
as is added. Tables that grow with the number of people and apps only are left out, and the steps of traces, which take a few megabytes
for each app whatever the load.

### SQLite

| Table | Bytes an act | A day at 10 acts/s | A day at 100 acts/s | In the long run at 10 acts/s | In the long run at 100 acts/s |
|---|---|---|---|---|---|
${growthTable('SQLite')}

### PostgreSQL

| Table | Bytes an act | A day at 10 acts/s | A day at 100 acts/s | In the long run at 10 acts/s | In the long run at 100 acts/s |
|---|---|---|---|---|---|
${growthTable('PostgreSQL')}

## How fast rows are removed

Rows a second, with the rests that leave the node to requests, and for how many milliseconds other work of the node waited meanwhile (99
of 100 times no longer). Measured with ${measured.rows} rows of each kind on ${measured.processors} processors that had other work to do; a token family comes
with its code.

| Table | SQLite | Delay | PostgreSQL | Delay |
|---|---|---|---|---|
${removalTable()}
`;
