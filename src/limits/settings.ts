import { HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import { type Reading, Variable } from '../platform/config/variable.ts';

/** At most `count` uses in a window of `windowMs` milliseconds, which begins with the first use; null for no limit. */
export type Limit = { readonly count: number; readonly windowMs: number } | null;

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR };

/** Reads `<count>/<s|m|h>`, with a number of units where it is not one, or `off`. */
function parseLimit(value: string): Reading<Limit> {
  if (value === 'off') return { value: null };
  const [, count, units, unit = ''] = /^([1-9]\d{0,8})\/([1-9]\d{0,2})?([smh])$/.exec(value) ?? [];
  const unitMs = UNITS[unit];
  if (count === undefined || unitMs === undefined) {
    return { problem: 'must be <count>/<s|m|h>, for example 10/m or 5/15m, or off' };
  }
  return { value: { count: Number(count), windowMs: Number(units ?? 1) * unitMs } };
}

/** Reads `<bytes>/h` or `off`. The period is fixed, because pending requests are stored for an hour. */
function parseHourlyBytes(value: string): Reading<Limit> {
  const reading = parseLimit(value);
  if ('value' in reading && (reading.value === null || reading.value.windowMs === HOUR)) return reading;
  return { problem: 'must be <bytes>/h, for example 16777216/h, or off' };
}

class LimitVariable extends Variable<Limit> {
  readonly fallback: Limit;
  constructor(name: string, fallback: string, about: string, parse = parseLimit) {
    super(name, parse, { initial: `\`${fallback}\``, about });
    const reading = parse(fallback);
    this.fallback = 'value' in reading ? reading.value : null;
  }
}

/** The variables of the rate limits. */
export const limitVariables = {
  signInAccount: new LimitVariable(
    'TESSERA_LIMIT_SIGN_IN_ACCOUNT',
    '10/m',
    'Failed sign-ins to one account. Browsers that have signed in to it before are counted separately.',
  ),
  signInAddress: new LimitVariable(
    'TESSERA_LIMIT_SIGN_IN_ADDRESS',
    '60/m',
    'Failed sign-ins from one IP address; eight times as many from one IPv6 /48.',
  ),
  sessionAccount: new LimitVariable(
    'TESSERA_LIMIT_SESSION_ACCOUNT',
    '60/m',
    'Successful sign-ins to one account. Browsers that have signed in to it before are counted separately.',
  ),
  codeAccount: new LimitVariable(
    'TESSERA_LIMIT_CODE_ACCOUNT',
    '5/15m',
    'Wrong codes for one account or address, over all codes that were sent to it. Browsers that have signed in to it before are counted separately.',
  ),
  mailRecipient: new LimitVariable(
    'TESSERA_LIMIT_MAIL_RECIPIENT',
    '10/h',
    'Mails to one address that people ask for, for each purpose. Beyond the limit, no mail is sent, and the answer does not show it. Browsers that have signed in to the account before are counted separately. A recovery mail is sent even beyond the limit if no earlier link works any more. For going back to an earlier address, each IP address that asks is counted separately, and all together have five times as many.',
  ),
  mailAddress: new LimitVariable(
    'TESSERA_LIMIT_MAIL_ADDRESS',
    '60/h',
    'Mails that are asked for from one IP address, or by one account that is signed in. The answer is the same beyond it.',
  ),
  totpAccount: new LimitVariable(
    'TESSERA_LIMIT_TOTP_ACCOUNT',
    '5/15m',
    'Wrong codes of an authenticator app and wrong recovery codes for one account, after the first factor. Browsers that have signed in to it before are counted separately, and so are recoveries and the undo of an address change.',
  ),
  recoveryCodeAccount: new LimitVariable(
    'TESSERA_LIMIT_RECOVERY_CODE_ACCOUNT',
    '20/24h',
    'Wrong recovery codes for one account, and wrong codes of any kind for one recovery or undo of an address change, which count for each IP address; for codes of an app, all addresses together have five times as many. Browsers that have signed in to the account before are counted separately.',
  ),
  usernameAccount: new LimitVariable(
    'TESSERA_LIMIT_USERNAME_ACCOUNT',
    '3/720h',
    'Changes of the username of one account. Each holds the earlier one for 90 days.',
  ),
  addressAccount: new LimitVariable(
    'TESSERA_LIMIT_ADDRESS_ACCOUNT',
    '3/168h',
    'Changes of the email address of one account in any period of that length. Undoing a change, going back to an earlier address and what operators do are not limited.',
  ),
  generationAccount: new LimitVariable(
    'TESSERA_LIMIT_GENERATION_ACCOUNT',
    '8/h',
    'Acts of one user that end all other sessions and earlier links of the account, such as a new password, new recovery codes, or signing out everywhere, in any period of that length. So somebody who knows the password cannot end the links that are sent to the owner faster than these can be opened. Recovery, "This was not me", the undo of an address change, and what operators do are not limited.',
  ),
  exportAccount: new LimitVariable(
    'TESSERA_LIMIT_EXPORT_ACCOUNT',
    '3/24h',
    'Copies of their data that one user asks for.',
  ),
  signUpAddress: new LimitVariable(
    'TESSERA_LIMIT_SIGN_UP_ADDRESS',
    '10/h',
    'New accounts from one IP address; eight times as many from one IPv6 /48.',
  ),
  pendingAddress: new LimitVariable(
    'TESSERA_LIMIT_PENDING_ADDRESS',
    '600/m',
    'Authorization requests from one IP address that wait for the user.',
  ),
  authorization: new LimitVariable(
    'TESSERA_LIMIT_AUTHORIZATION',
    '60/m',
    'Authorization codes for one user and one app, which can be requested without showing a page.',
  ),
  pendingBytesAddress: new LimitVariable(
    'TESSERA_LIMIT_PENDING_BYTES_ADDRESS',
    '16777216/h',
    'Bytes of such requests from one IP address in any hour, written as `<bytes>/h`. Each request is stored for an hour, so this limits the storage that one address can use.',
    parseHourlyBytes,
  ),
  deviceAddress: new LimitVariable(
    'TESSERA_LIMIT_DEVICE_ADDRESS',
    '60/m',
    'Device authorizations that are asked for from one IP address. Each is stored for ten minutes.',
  ),
  userCode: new LimitVariable(
    'TESSERA_LIMIT_USER_CODE',
    '10/10m',
    'Codes of devices that are typed in one browser, and by one account that is signed in.',
  ),
  userCodeAddress: new LimitVariable(
    'TESSERA_LIMIT_USER_CODE_ADDRESS',
    '60/10m',
    'Codes of devices that are typed at one IP address.',
  ),
  metadataAddress: new LimitVariable(
    'TESSERA_LIMIT_METADATA_ADDRESS',
    '30/m',
    'Metadata documents of apps that nobody has allowed yet, fetched for requests from one IP address.',
  ),
  metadataHost: new LimitVariable(
    'TESSERA_LIMIT_METADATA_HOST',
    '60/m',
    'Such documents that are fetched from one host.',
  ),
  registrationAddress: new LimitVariable(
    'TESSERA_LIMIT_REGISTRATION_ADDRESS',
    '60/h',
    'Apps that register themselves without an initial access token, from one IP address; and changes that an app makes to its own registration.',
  ),
  registration: new LimitVariable('TESSERA_LIMIT_REGISTRATION', '600/h', 'Such apps in all.'),
  clientAuth: new LimitVariable(
    'TESSERA_LIMIT_CLIENT_AUTH',
    '20/m',
    'Failed client authentications of one client from one IP address.',
  ),
  adminKey: new LimitVariable(
    'TESSERA_LIMIT_ADMIN_KEY',
    '20/m',
    'Requests with invalid admin keys from one IP address. Valid keys are not limited.',
  ),
  token: new LimitVariable('TESSERA_LIMIT_TOKEN', '3000/m', 'Authenticated token requests of one client.'),
  playgroundAddress: new LimitVariable(
    'TESSERA_LIMIT_PLAYGROUND_ADDRESS',
    '60/h',
    'Playground sessions started from one IP address.',
  ),
  formAccount: new LimitVariable(
    'TESSERA_LIMIT_FORM_ACCOUNT',
    '120/m',
    'Forms that one session submits on the account pages. All sessions of a user together may submit five times as many, and what ends other sessions is counted per session only.',
  ),
  developerAccount: new LimitVariable(
    'TESSERA_LIMIT_DEVELOPER_ACCOUNT',
    '120/h',
    'Changes that one person makes, in the console and through the admin API, who may manage apps by `TESSERA_DEVELOPERS` alone. People with a role that includes it are not limited.',
  ),
  pictureAccount: new LimitVariable('TESSERA_LIMIT_PICTURE_ACCOUNT', '60/h', 'Pictures that one user uploads.'),
  userinfo: new LimitVariable('TESSERA_LIMIT_USERINFO', 'off', 'UserInfo requests of one client.'),
} as const;

export type LimitName = keyof typeof limitVariables;
export type Limits = Readonly<Record<LimitName, Limit>>;
export const limitNames = Object.keys(limitVariables) as LimitName[];
