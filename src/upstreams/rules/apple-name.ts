import { membersOf } from './github-person.ts';
import { proposal } from './proposal.ts';

/** The longest name that is proposed. */
const LONGEST_NAME = 64;

/**
 * The name in the `user` that Apple sends beside the code, once in the life of an account: `{"name":{"firstName":"…","lastName":"…"}}`.
 * @returns undefined where there is none, or it cannot be read
 */
export function appleName(user: string | null): string | undefined {
  const { name } = membersOf(parsed(user));
  const { firstName, lastName } = membersOf(name);
  const parts = [firstName, lastName].filter((part) => typeof part === 'string').map((part) => part.trim());
  return proposal(parts.join(' '), LONGEST_NAME);
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
