import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));
const GROUPS = ['platform', 'protocol', 'web', 'operations'];

/** The folder of a source file, such as `accounts` or `platform/http`; `src` for the files at the top. */
function folderOf(path: string): string {
  const [first = '', second = '', ...rest] = path.split('/');
  if (second === '') return 'src';
  return GROUPS.includes(first) && rest.length > 0 ? `${first}/${second}` : first;
}

/** The folders that each folder imports from, types included. */
function importsByFolder(): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = name.replaceAll('\\', '/');
    if (!path.endsWith('.ts') || path.endsWith('.test.ts')) continue;
    const folder = folderOf(path);
    const imported = graph.get(folder) ?? new Set();
    graph.set(folder, imported);
    const code = readFileSync(SOURCES + path, 'utf8');
    for (const [, target = ''] of code.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const other = folderOf(posix.join(posix.dirname(path), target));
      if (other !== folder) imported.add(other);
    }
  }
  return graph;
}

/** The import graph in an order in which each folder comes after all that it imports. */
export function folderTable(): string {
  const graph = importsByFolder();
  const ordered: string[] = [];
  const place = (folder: string): void => {
    if (ordered.includes(folder)) return;
    for (const other of [...(graph.get(folder) ?? [])].sort()) place(other);
    ordered.push(folder);
  };
  for (const folder of [...graph.keys()].sort()) place(folder);
  const list = (folders: Iterable<string>) =>
    [...folders]
      .sort()
      .map((folder) => `\`${folder}\``)
      .join(', ') || 'nothing';
  return ordered.map((folder) => `| \`${folder}\` | ${list(graph.get(folder) ?? [])} |`).join('\n');
}
