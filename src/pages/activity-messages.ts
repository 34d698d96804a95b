import type { ActivityKind } from '../audit/activity-store.ts';
import type { ActivityType } from '../audit/audit.ts';
import type { HtmlPart } from './html.ts';

/** What a text may say beside the type. */
interface ActivityFacts {
  /** The name of the app. */
  readonly app: HtmlPart;
  /** How many events in a row the text is about. */
  readonly count: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether an operator did it, which {@link activity.byOperator} says after the text. */
  readonly byOperator: boolean;
}

type ActivityText = string | ((facts: ActivityFacts) => HtmlPart);

const FACTORS: Readonly<Record<string, string>> = {
  totp: 'An authenticator app',
  passkey: 'A passkey',
  upstream: 'Signing in with another provider',
};
const factorOf = ({ factor }: ActivityFacts['details']): string => FACTORS[String(factor)] ?? 'A way to sign in';

function updated({ details: { fields } }: ActivityFacts): string {
  const names = Array.isArray(fields) ? fields : [];
  const [only] = names;
  if (names.length === 1 && only === 'username') return 'Your username was changed.';
  if (names.length === 1 && only === 'picture') return 'Your picture was changed.';
  return 'Your profile was changed.';
}

const groupText = (what: string, { group }: ActivityFacts['details']): string =>
  typeof group === 'string' ? `${what} the group ${group}.` : `${what} a group.`;

/** What happened, in a sentence for each type of event that people see of their account. */
const texts: Readonly<Record<ActivityType, ActivityText>> = {
  'sign_in.succeeded': 'You signed in.',
  'sign_in.failed': ({ count }) => (count === 1 ? 'A sign-in failed.' : `${count} sign-ins failed.`),
  'sign_in.confirmed': 'You confirmed that it is you.',
  sign_out: ({ details }) =>
    details['reason'] === undefined
      ? 'You signed out.'
      : 'A browser was signed out, because you were signed in in too many.',
  'session.ended': ({ details, byOperator }) => {
    if ('onlyUpstreamId' in details) return 'You were signed out, because your organization asks for its own sign-in.';
    if ('except' in details) return 'All other browsers were signed out.';
    return byOperator ? 'A browser was signed out.' : 'A browser was signed out from another one.';
  },
  'account.created': 'Your account was created.',
  'account.updated': updated,
  'account.address_displaced':
    'Another person verified the email address that your account had. It was removed from your account.',
  'account.deletion_requested': ({ byOperator }) =>
    byOperator ? 'The deletion of your account was scheduled.' : 'You asked for the deletion of your account.',
  'account.deletion_cancelled': 'The deletion of your account was canceled.',
  'account.password_changed': 'Your password was changed.',
  'account.password_removed': 'Your password was removed.',
  'account.factor_added': ({ details }) => `${factorOf(details)} was added.`,
  'account.factor_removed': ({ details }) => `${factorOf(details)} was removed.`,
  'account.factor_renamed': 'A passkey was renamed.',
  'account.recovery_codes_created': 'New recovery codes were created.',
  'account.recovery_setting_changed': ({ details }) =>
    details['codeRequired'] === true
      ? 'You set recovery by mail to ask for a recovery code as well.'
      : 'You set recovery by mail to ask for no recovery code.',
  'passkey.counter_went_back':
    'A passkey was used that may have been copied. If you are not sure of it, remove it and add a new one.',
  'browser.trusted': 'You chose not to be asked for a code in a browser.',
  'browser.distrusted': 'You chose to be asked for a code again in a browser.',
  'upstream.sessions_ended': ({ details: { upstream, by } }) =>
    by === 'upstream'
      ? `You were signed out, because your session at “${upstream}” ended.`
      : `You were signed out, because people no longer sign in here with “${upstream}”.`,
  'account.signed_out_everywhere': 'All browsers were signed out, and all apps.',
  'account.address_verified': 'You verified your email address.',
  'account.address_change_requested': 'You asked to change your email address.',
  'account.address_changed': 'Your email address was changed.',
  'account.address_change_undone': 'The change of your email address was undone.',
  'account.earlier_address_removed':
    'You said that an earlier email address is no longer yours. It can no longer undo a change.',
  'account.secured': 'You reported that something was not you. Everything was ended.',
  'account.unlocked': 'The wait after failed attempts to sign in was ended.',
  'account.banned': 'Your account was banned.',
  'account.unbanned': 'The ban of your account was lifted.',
  'account.suspended': 'Your account was suspended.',
  'account.reinstated': 'The suspension of your account was lifted.',
  'recovery.requested': 'A link to recover your account was sent to you.',
  'recovery.link_created': 'A link to recover your account was created.',
  'account.recovered': 'Your account was recovered.',
  'consent.granted': ({ app }) => ['You gave access to ', app, '.'],
  'consent.denied': ({ app }) => ['You did not give access to ', app, '.'],
  'consent.narrowed': ({ app }) => ['You changed what ', app, ' may see.'],
  'consent.revoked': ({ app }) => ['The access of ', app, ' was taken away.'],
  'organization.member_set': 'You became a member of an organization, or your role in it was changed.',
  'organization.member_removed': ({ details }) =>
    details['left'] === true ? 'You left an organization.' : 'You were removed from an organization.',
  'group.member_added': ({ details }) => groupText('You were added to', details),
  'group.member_removed': ({ details }) => groupText('You were removed from', details),
  'operator.role_granted': ({ details }) => `You got the role ${details['role']} of operators, or its end was changed.`,
  'operator.role_revoked': ({ details }) => `The role ${details['role']} of operators was taken from you.`,
  'access.assigned': ({ app }) => ['You were assigned to ', app, ', or got another role in it.'],
  'access.unassigned': ({ app }) => ['Your assignment to ', app, ' was taken away.'],
  'export.requested': 'You asked for a copy of your data.',
  'export.downloaded': ({ details }) =>
    details['file'] === 'picture' ? 'You downloaded your picture.' : 'You downloaded a copy of your data.',
};

/** The texts of the page with what happened in an account. */
export const activity = {
  title: 'Recent activity',
  lead: (secure: HtmlPart): HtmlPart => [
    'What happened in your account, the latest first. If something was not you, ',
    secure,
    '.',
  ],
  secure: 'secure your account',
  sectionLead: 'Sign-ins, changes to your account, and what you allowed apps.',
  empty: 'Nothing yet. Sign-ins and changes to your account are listed here.',
  end: 'There is nothing older.',
  filter: 'Show',
  all: 'Everything',
  kinds: {
    'sign-ins': 'Sign-ins',
    account: 'Your account',
    apps: 'Apps',
    organization: 'Organization and groups',
  } satisfies Record<ActivityKind, string>,
  noneOfKind: 'There is nothing of this kind.',
  older: 'Older',
  newest: 'Newest',
  deletedApp: 'an app that was deleted',
  byOperator: 'An operator of this service did this.',
  since: (time: HtmlPart): HtmlPart => ['first on ', time],
  describe: (type: ActivityType, facts: ActivityFacts): HtmlPart => {
    const text = texts[type];
    return typeof text === 'string' ? text : text(facts);
  },
};
