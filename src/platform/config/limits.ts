import { HOUR, MINUTE, SECOND } from '../clock.ts';
import { type Reading, Variable } from './variable.ts';

/** At most `count` in any window of `windowMs` milliseconds, which begins with the first; null is without limit. */
export type Limit = { readonly count: number; readonly windowMs: number } | null;

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR };

/** Reads `<count>/<s|m|h>` or `off`. */
function parseLimit(value: string): Reading<Limit> {
  if (value === 'off') return { value: null };
  const [, count, unit] = /^([1-9]\d{0,8})\/([smh])$/.exec(value) ?? [];
  const windowMs = unit === undefined ? undefined : UNITS[unit];
  if (count === undefined || windowMs === undefined) {
    return { problem: 'must be <count>/<s|m|h>, for example 10/m, or off' };
  }
  return { value: { count: Number(count), windowMs } };
}

/** Reads `<bytes>/h` or `off`: what it bounds is kept for an hour. */
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

/** The limits of the service, each a variable. */
export const limitVariables = {
  signInAccount: new LimitVariable(
    'TESSERA_LIMIT_SIGN_IN_ACCOUNT',
    '10/m',
    'Failed sign-ins for one account; a browser that signed in to it before has a count of its own.',
  ),
  signInAddress: new LimitVariable('TESSERA_LIMIT_SIGN_IN_ADDRESS', '60/m', 'Failed sign-ins from one address.'),
  signUpAddress: new LimitVariable('TESSERA_LIMIT_SIGN_UP_ADDRESS', '10/h', 'New accounts from one address.'),
  pendingAddress: new LimitVariable(
    'TESSERA_LIMIT_PENDING_ADDRESS',
    '600/m',
    'Authorization requests from one address that have to wait for a person.',
  ),
  authorization: new LimitVariable(
    'TESSERA_LIMIT_AUTHORIZATION',
    '60/m',
    'Authorization codes for one person and one app, which may be asked for without any page.',
  ),
  pendingBytesAddress: new LimitVariable(
    'TESSERA_LIMIT_PENDING_BYTES_ADDRESS',
    '16777216/h',
    'Bytes of such requests that one address begins in any hour, written as `<bytes>/h`. Each is kept for an hour, so one address never holds more.',
    parseHourlyBytes,
  ),
  clientAuth: new LimitVariable(
    'TESSERA_LIMIT_CLIENT_AUTH',
    '20/m',
    'Failed client authentications for one client from one address.',
  ),
  adminKey: new LimitVariable(
    'TESSERA_LIMIT_ADMIN_KEY',
    '20/m',
    'Admin keys from one address that are not valid; a valid one is never limited.',
  ),
  token: new LimitVariable('TESSERA_LIMIT_TOKEN', '3000/m', 'Authenticated token requests of one client.'),
  playgroundAddress: new LimitVariable(
    'TESSERA_LIMIT_PLAYGROUND_ADDRESS',
    '60/h',
    'Visits to the playground that are begun from one address.',
  ),
  formAccount: new LimitVariable(
    'TESSERA_LIMIT_FORM_ACCOUNT',
    '120/m',
    'Forms of the account pages that one person sends: each is a commit and an event.',
  ),
  pictureAccount: new LimitVariable(
    'TESSERA_LIMIT_PICTURE_ACCOUNT',
    '60/h',
    'Pictures that one person uploads: each takes the one decoder for up to a second.',
  ),
  userinfo: new LimitVariable('TESSERA_LIMIT_USERINFO', 'off', 'UserInfo requests of one client.'),
} as const;

export type LimitName = keyof typeof limitVariables;
export type Limits = Readonly<Record<LimitName, Limit>>;
export const limitNames = Object.keys(limitVariables) as LimitName[];
