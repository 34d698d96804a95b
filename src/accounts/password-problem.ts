import { normalizePassword } from '../platform/crypto/passwords.ts';
import { invalid } from '../platform/failure.ts';
import type { BreachedPasswords } from './breached-passwords.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { type KnownNames, MIN_LENGTH, type WeakPassword, weakPassword } from './rules/password.ts';

export type PasswordProblem = WeakPassword | 'breached';

/** Finds why a password would be guessed first. The check is local. */
export async function findWeakPassword(password: string, names: KnownNames): Promise<WeakPassword | undefined> {
  const common = await loadCommonPasswords();
  const text = normalizePassword(password);
  // Composed letters are fewer than those that were counted.
  if ([...text].length < MIN_LENGTH) return 'simple';
  return weakPassword(text, names, (candidate) => common.has(candidate));
}

/** Finds why a password cannot be chosen; the check for breaches, where it is on, asks another service. */
export async function passwordProblem(
  { breaches }: { readonly breaches: BreachedPasswords },
  password: string,
  names: KnownNames,
): Promise<PasswordProblem | undefined> {
  const weak = await findWeakPassword(password, names);
  return weak ?? ((await breaches.includes(normalizePassword(password))) ? 'breached' : undefined);
}

const PROBLEMS: Readonly<Record<PasswordProblem, string>> = {
  common: 'this one is among the most used',
  simple: 'this one repeats itself or follows a sequence',
  name: 'this one is made of a name of the user or the service',
  breached: 'this one was published in a data breach',
};

/** @throws {Failure} `invalid` where the password cannot be chosen */
export async function requireGoodPassword(
  services: { readonly breaches: BreachedPasswords },
  password: string,
  names: KnownNames,
): Promise<void> {
  const problem = await passwordProblem(services, password, names);
  if (problem === undefined) return;
  throw invalid(`password must be harder to guess: ${PROBLEMS[problem]}. A few unrelated words make a good one.`);
}
