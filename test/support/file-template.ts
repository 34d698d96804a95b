import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';

/** Makes an embedded database with all tables, which `copyTemplate` copies: a copy is made sooner than the tables. */
export async function makeFileTemplate(folder: string): Promise<void> {
  const { migrateSqlite } = await import('../../src/platform/database/sqlite/open.ts');
  const path = join(folder, 'migrated.db');
  await migrateSqlite(path, toCurrentSchema);
  process.env['TEST_DATA_TEMPLATE'] = path;
}

/** Puts the database of a new server into its data folder, if the runner made a template. */
export function copyTemplate(dataDir: string): void {
  const template = process.env['TEST_DATA_TEMPLATE'];
  if (template !== undefined) copyFileSync(template, join(dataDir, 'tessera.db'));
}
