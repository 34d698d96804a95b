import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrateDatabase } from '../../src/core.ts';
import { readConfig } from '../../src/settings/config.ts';
import type { Held } from './life.ts';
import { FUTURE } from './next.ts';
import { filePlace, type Place, postgresPlace } from './places.ts';

const FOLDER = import.meta.dirname;

/** The releases that are kept. */
export const RELEASES: readonly string[] = readdirSync(FOLDER).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

export const contents = (version: string, name: string): string => readFileSync(join(FOLDER, version, name), 'utf8');

/** Long words are kept in pieces. */
export function heldAt(version: string): Held {
  const kept: Record<string, unknown> = JSON.parse(contents(version, 'held.json'));
  const joined = Object.entries(kept).map(([name, value]) => [name, Array.isArray(value) ? value.join('') : value]);
  return Object.fromEntries(joined);
}

/** A database as a release left it. */
export async function released(kind: 'sqlite' | 'postgres', version: string): Promise<Place> {
  const place = await (kind === 'sqlite' ? filePlace() : postgresPlace());
  await place.execute(contents(version, `${kind}.sql`));
  return place;
}

/** The database of a release with the schema of this version, and enough token families for several batches. Half of them can be used. */
export async function releasedLarge(kind: 'sqlite' | 'postgres', version: string, copies = 1000): Promise<Place> {
  const made = await released(kind, version);
  const place = { ...made, environment: { ...made.environment, TESSERA_SECRET: heldAt(version).secret } };
  await migrateDatabase(readConfig(place.environment));
  await multiply(place, copies);
  await place.execute(`UPDATE token_family SET leaf_expires_at = CASE WHEN id % 2 = 1 THEN ${FUTURE} ELSE 1 END`);
  return place;
}

/** Copies of the token families, so that the migrations have something to do. */
async function multiply(place: Place, copies: number): Promise<void> {
  const names = Object.keys((await place.columns())['token_family'] ?? {});
  const values = names.map((name) => {
    // Far from the ids of the others, which follow each other.
    if (name === 'id') return 'id + n * 100003';
    return name === 'leaf_jti' ? "leaf_jti || '-' || n" : name;
  });
  await place.execute(
    `WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${copies})
     INSERT INTO token_family (${names.join(', ')}) SELECT ${values.join(', ')} FROM token_family CROSS JOIN copies`,
  );
}
