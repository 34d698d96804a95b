import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Held } from './life.ts';
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

/** Copies of the token families and events, so that the migrations have something to do. */
export async function multiply(place: Place, copies: number): Promise<void> {
  const columns = await place.columns();
  const distinct: Readonly<Record<string, readonly string[]>> = { token_family: ['leaf_jti'], audit_event: [] };
  for (const [table, texts] of Object.entries(distinct)) {
    const names = Object.keys(columns[table] ?? {}).filter((name) => table !== 'audit_event' || name !== 'id');
    const values = names.map((name) => {
      // Far from the ids of the others, which follow each other.
      if (name === 'id') return 'id + n * 100003';
      return texts.includes(name) ? `${name} || '-' || n` : name;
    });
    await place.execute(
      `WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${copies})
       INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table} CROSS JOIN copies`,
    );
  }
}
