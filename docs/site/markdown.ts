import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root; paths of pages are relative to it. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A page's Markdown source. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every Markdown page in the repository, or in one of its folders. */
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

/** The anchor of a heading, as GitHub and GitLab generate it: the letters, digits, hyphens and underscores of its text. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');

/** Assigns anchors to the headings of a page. A repeated heading gets the suffix `-1`, `-2` and so on. */
export function anchors(): (text: string) => string {
  const seen = new Map<string, number>();
  return (text) => {
    const anchor = slug(text);
    const before = seen.get(anchor);
    seen.set(anchor, (before ?? -1) + 1);
    return before === undefined ? anchor : `${anchor}-${before + 1}`;
  };
}

/** The text of a heading or link without Markdown markup. */
const plain = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');

function anchorsOf(path: string): ReadonlySet<string> {
  const next = anchors();
  const text = read(path).replaceAll(/^```.*?^```/gms, '');
  return new Set([...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => next(plain(heading.trim()))));
}

/** The target of a link: a path in the repository and an anchor, which may be empty. Undefined for an external link. */
export function target(page: string, link: string): { readonly path: string; readonly anchor: string } | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = '', anchor = ''] = link.split('#');
  return { path: path === '' ? page : join(dirname(page), decodeURI(path)).split(sep).join('/'), anchor };
}

/** The problem with a link of a page; undefined if its target exists. */
export function deadLink(page: string, link: string): string | undefined {
  const to = target(page, link);
  if (to === undefined) return undefined;
  if (relative('.', to.path).startsWith('..') || !existsSync(join(root, to.path)))
    return `${page}: ${link} leads nowhere`;
  if (to.anchor === '' || !to.path.endsWith('.md') || anchorsOf(to.path).has(to.anchor)) return undefined;
  return `${page}: ${link} names a heading that ${to.path} does not have`;
}

/** The links and images of a page, as written. */
export const links = (markdown: string): readonly string[] =>
  [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);

/** A page as `docs/README.md` lists it. */
export interface Listed {
  readonly path: string;
  readonly label: string;
}

/** A section of the documentation, with its pages in reading order. */
export interface Section {
  readonly title: string;
  readonly pages: readonly Listed[];
  /** The same pages under the headings within the section; the first ones may have none. */
  readonly groups: readonly { readonly title: string | undefined; readonly pages: readonly Listed[] }[];
}

const listed = (text: string): readonly Listed[] =>
  [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, label = '', link = '']) => ({
    label,
    path: `docs/${link}`,
  }));

const firstLine = (text: string): string => text.slice(0, text.indexOf('\n'));

/**
 * The contents as listed in `docs/README.md`: each heading of the second level is a section, one of the third a group within it, and the
 * first link of each list item a page.
 */
export function contents(): readonly Section[] {
  const sections = read('docs/README.md').split(/^## /m).slice(1);
  return sections.flatMap((text) => {
    const [before = '', ...grouped] = text.split(/^### /m);
    const groups = [
      { title: undefined, pages: listed(before) },
      ...grouped.map((group) => ({ title: firstLine(group), pages: listed(group) })),
    ].filter(({ pages }) => pages.length > 0);
    return groups.length === 0 ? [] : { title: firstLine(text), groups, pages: groups.flatMap(({ pages }) => pages) };
  });
}
