import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import { many } from '../platform/database/statement.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { identifierKey } from './rules/profile.ts';

/** How many names one statement looks up. */
const AT_ONCE = 50;

type Names = Readonly<Record<string, string>>;
const ids = positionsOf(AT_ONCE, '0');
const texts = positionsOf(AT_ONCE, '');

const byId = many((db, p: Names) => db.selectFrom('account').select('id').where('id', 'in', ids.list(p)));
const byUsername = many((db, p: Names) =>
  db.selectFrom('account').select(['id', 'username as key']).where('username', 'in', texts.list(p)),
);
const byAddress = many((db, p: Names) =>
  db.selectFrom('account').select(['id', 'email_key as key']).where('email_key', 'in', texts.list(p)),
);

function* keysOf(find: typeof byUsername, keys: readonly string[]): Work<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const chunk of texts.chunks(keys)) for (const { id, key } of yield* find(chunk)) found.set(key, id);
  return found;
}

/**
 * Finds the accounts whose IDs, usernames or addresses some texts are, ignoring case. A username may consist of digits only, so the ID is
 * tried first.
 * @returns the ID of the account for each text that is one of these
 */
export function* findAllNamed(typed: readonly string[]): Work<ReadonlyMap<string, string>> {
  const existing = new Set<string>();
  for (const chunk of ids.chunks(typed.filter(isSnowflake))) for (const { id } of yield* byId(chunk)) existing.add(id);
  const others = typed.filter((text) => !existing.has(text)).map(identifierKey);
  const usernames = yield* keysOf(
    byUsername,
    others.filter((key) => !key.includes('@')),
  );
  const addresses = yield* keysOf(
    byAddress,
    others.filter((key) => key.includes('@')),
  );
  const named = typed.flatMap((text) => {
    const key = identifierKey(text);
    const id = existing.has(text) ? text : (usernames.get(key) ?? addresses.get(key));
    return id === undefined ? [] : [[text, id] as const];
  });
  return new Map(named);
}
