import type { Work } from '../database/database.ts';

const PART = 500;

/** Every item of a list that is read part by part, in the order of their ids. */
export function* allPages<T extends { readonly id: string }>(
  read: (part: { after: string; limit: number }) => Work<T[]>,
): Work<T[]> {
  const found: T[] = [];
  for (let after = '0'; ; ) {
    const part: T[] = yield* read({ after, limit: PART });
    found.push(...part);
    const last = part.at(-1);
    if (last === undefined || part.length < PART) return found;
    after = last.id;
  }
}
