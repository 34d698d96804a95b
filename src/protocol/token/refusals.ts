import type { RefusalRow } from '../refusals/row.ts';
import { CODES } from './refusals/codes.ts';
import { DEVICES } from './refusals/devices.ts';
import { REFRESH_TOKENS } from './refusals/refresh-tokens.ts';
import { REQUESTS } from './refusals/requests.ts';
import { REVOCATIONS } from './refusals/revocation.ts';
import { SIGN_INS } from './refusals/sign-ins.ts';

/** Every refusal of the token and revocation endpoints after the client has authenticated, apart from missing parameters. */
export const REFUSALS = { ...REQUESTS, ...CODES, ...DEVICES, ...REFRESH_TOKENS, ...SIGN_INS, ...REVOCATIONS };

export type RefusalName = keyof typeof REFUSALS;

/** What a row needs to know. For one of several rows, the facts of all of them. */
export type FactsOf<Name extends RefusalName> = {
  [Each in Name]: (typeof REFUSALS)[Each] extends RefusalRow<infer Facts> ? (facts: Facts) => void : never;
}[Name] extends (facts: infer Facts) => void
  ? Facts
  : never;
