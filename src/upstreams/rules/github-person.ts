import type { UpstreamPerson } from './id-token.ts';
import { proposal } from './proposal.ts';
import type { TokenProblem } from './token-claims.ts';

const LONGEST_NAME = 64;
const LONGEST_EMAIL = 254;

/**
 * Reads what GitHub's API says of the person who signed in. They are known by the number of their account: a login name can be changed, and
 * taken by somebody else.
 * @param user of `/user`
 * @param emails of `/user/emails`; undefined where the app may not read them
 */
export function readGithubPerson(
  issuer: string,
  user: unknown,
  emails: unknown,
  now: number,
): UpstreamPerson | TokenProblem {
  const { id, name, login } = membersOf(user);
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) return { problem: 'id is missing or no number' };
  const email = primaryAddress(emails);
  return {
    issuer,
    subject: String(id),
    sid: null,
    issuedAt: now,
    amr: [],
    name: proposal(name, LONGEST_NAME) ?? proposal(login, LONGEST_NAME),
    email,
    emailVerified: email !== undefined,
  };
}

/** The primary address, if it is verified. The public one in the profile may be neither. */
function primaryAddress(emails: unknown): string | undefined {
  const entries = Array.isArray(emails) ? emails.map(membersOf) : [];
  const primary = entries.find((entry) => entry['primary'] === true && entry['verified'] === true);
  return proposal(primary?.['email'], LONGEST_EMAIL);
}

/** The members of an object; none of anything else. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
