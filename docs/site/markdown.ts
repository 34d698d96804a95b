import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository; paths of pages are relative to it. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A page's text as it stands in the repository. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every page of the repository, or of a folder in it. */
export function* pages(folder = ''): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pages(path);
    else if (entry.name.endsWith('.md')) yield path.split(sep).join('/');
  }
}

const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '');

/** The anchor of a heading, as forges make it: letters, digits, hyphens and underscores of its text. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');

/** Gives each heading of a page its anchor; of equal ones the second ends in `-1`. */
export function anchors(): (text: string) => string {
  const seen = new Map<string, number>();
  return (text) => {
    const anchor = slug(text);
    const before = seen.get(anchor);
    seen.set(anchor, (before ?? -1) + 1);
    return before === undefined ? anchor : `${anchor}-${before + 1}`;
  };
}

/** The text of a heading, or of a link, without its marks. */
const plain = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');

function anchorsOf(path: string): ReadonlySet<string> {
  const next = anchors();
  const text = read(path).replaceAll(/^```.*?^```/gms, '');
  return new Set([...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => next(plain(heading.trim()))));
}

/** Where a link of a page leads: to a path of the repository, with an anchor perhaps. Undefined is elsewhere on the web. */
export function target(page: string, link: string): { readonly path: string; readonly anchor: string } | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = '', anchor = ''] = link.split('#');
  return { path: path === '' ? page : join(dirname(page), decodeURI(path)).split(sep).join('/'), anchor };
}

/** What is wrong with a link of a page; undefined where it leads somewhere. */
export function deadLink(page: string, link: string): string | undefined {
  const to = target(page, link);
  if (to === undefined) return undefined;
  if (relative('.', to.path).startsWith('..') || !existsSync(join(root, to.path)))
    return `${page}: ${link} leads nowhere`;
  if (to.anchor === '' || !to.path.endsWith('.md') || anchorsOf(to.path).has(to.anchor)) return undefined;
  return `${page}: ${link} names a heading that ${to.path} does not have`;
}

/** The links of a page as they are written, pictures included. */
export const links = (markdown: string): readonly string[] =>
  [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);

/** A part of the documentation, with its pages in the order in which they are read. */
export interface Section {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly label: string }[];
}

/** The contents as `docs/README.md` lists them: each heading is a section, the first link of each line one of its pages. */
export function contents(): readonly Section[] {
  return read('docs/README.md')
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      title: text.slice(0, text.indexOf('\n')),
      pages: [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, label = '', link = '']) => ({
        label,
        path: `docs/${link}`,
      })),
    }));
}
