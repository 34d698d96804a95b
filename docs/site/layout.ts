import { posix } from 'node:path';
import { type Html, html, Html as Markup } from '../../src/pages/html.ts';
import { tile } from '../../src/pages/mark.ts';
import { anchors, type Section, target } from './markdown.ts';

/** The path on the site of a page, picture or style sheet of `docs/`. */
export const onSite = (path: string): string =>
  path
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.html')
    .replace(/\.md$/, '.html');

/** A relative link from one page to another, so that the site works at any URL and from a local folder. */
const relativeLink = (from: string, to: string): string => posix.relative(posix.dirname(onSite(from)), onSite(to));

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
export const textOf = (markup: string): string =>
  markup.replaceAll(/<[^>]*>/g, '').replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);

/**
 * Rewrites the links of a page for the site.
 * @param source the URL where the repository can be browsed; without it, links to files that are not on the site become plain text
 */
function pointLinks(page: string, body: string, source: string | undefined): string {
  const outside = (path: string): boolean => !path.startsWith('docs/') || !/\.(md|html|png|svg)$/.test(path);
  return body.replaceAll(/<a href="([^"]*)">(.*?)<\/a>/gs, (whole, link: string, inner: string) => {
    const to = target(page, link);
    if (to === undefined || link.startsWith('#')) return whole;
    if (!outside(to.path))
      return `<a href="${relativeLink(page, to.path)}${to.anchor && `#${to.anchor}`}">${inner}</a>`;
    if (source !== undefined) return `<a href="${source}/${to.path}">${inner}</a>`;
    return `<span title="${to.path}, in the repository">${inner}</span>`;
  });
}

/** The page of the search form. It is not in `docs/`: the site makes it. */
export const SEARCH = 'docs/search.md';

interface Heading {
  readonly anchor: string;
  readonly text: string;
}

/** Adds anchors to the headings of a page, and lists the headings of the second level. */
function mark(body: string, anchorOf: (text: string) => string): { body: string; headings: readonly Heading[] } {
  const headings: Heading[] = [];
  const marked = body.replaceAll(/<h([1-6])>(.*?)<\/h\1>/gs, (_, level: string, inner: string) => {
    const text = textOf(inner);
    const anchor = anchorOf(text);
    if (level === '1') return `<h1 id="${anchor}">${inner}</h1>`;
    if (level === '2') headings.push({ anchor, text });
    return `<h${level} id="${anchor}">${inner} <a class="anchor" href="#${anchor}" aria-label="Link to “${text.replaceAll('"', '')}”">#</a></h${level}>`;
  });
  return { body: marked, headings };
}

/**
 * Lets tables scroll horizontally, also by keyboard. An empty header cell becomes a data cell. Each cell says its column, which a phone
 * shows in front of it: there, a row is a block of its own.
 */
const scrollable = (body: string): string =>
  body.replaceAll(/<table>.*?<\/table>/gs, (table) => {
    const columns = [...table.matchAll(/<th[^>]*>(.*?)<\/th>/gs)].map(([, inner = '']) => textOf(inner));
    const rows = table.replaceAll(/<tr>(.*?)<\/tr>/gs, (_, row: string) => {
      let at = 0;
      const cells = row.replaceAll(/<td/g, () => html`<td data-column="${columns[at++] ?? ''}"`.text);
      return `<tr>${cells}</tr>`;
    });
    return `<div class="scroll" tabindex="0">${rows.replaceAll('<th></th>', '<td></td>')}</div>`;
  });

/** Lets code blocks scroll by keyboard, and adds a copy button that is hidden until the product's script finds a clipboard. */
function copyable(body: string): string {
  let count = 0;
  return body.replaceAll(/<pre>(<code.*?<\/code>)\s*<\/pre>/gs, (_, code: string) => {
    const id = `code-${++count}`;
    const button = html`<button type="button" hidden aria-label="Copy this code" data-copy-of="${id}" data-other="Copied">Copy</button>`;
    return `<div class="code"><pre tabindex="0">${code.replace('<code', `<code id="${id}"`)}</pre>${button.text}</div>`;
  });
}

/** The content of a page. */
export interface Article {
  /** The path in the repository. */
  readonly page: string;
  readonly body: string;
  readonly headings: readonly Heading[];
}

/** Prepares the HTML that was rendered from a page's Markdown. */
export function article(page: string, body: string, source: string | undefined): Article {
  return { page, ...mark(pointLinks(page, body, source), anchors()) };
}

/**
 * A page of the site: an article with the product's style and logo.
 * @param root the path under which the site is served, for a page that is shown at any URL; links are relative otherwise
 */
export function layout({ page, body: marked, headings }: Article, sections: readonly Section[], root?: string): string {
  const linkTo = (from: string, to: string): string =>
    root === undefined ? relativeLink(from, to) : root + onSite(to);
  const title = textOf(/<h1[^>]*>(.*?)<\/h1>/s.exec(marked)?.[1] ?? '');
  const order = sections.flatMap(({ pages }) => pages);
  const place = order.findIndex(({ path }) => path === page);
  const section = sections.find(({ pages }) => pages.some(({ path }) => path === page));
  const contents = 'docs/README.md';
  const step = (
    to: { readonly path: string; readonly label: string } | undefined,
    rel: string,
    word: string,
  ): Html | undefined =>
    to && html`<a rel="${rel}" href="${linkTo(page, to.path)}"><span>${word}</span> ${to.label}</a>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}${page !== contents && ' – Tessera documentation'}</title>
<link rel="stylesheet" href="${linkTo(page, 'docs/assets/style.css')}">
<link rel="stylesheet" href="${linkTo(page, 'docs/assets/site.css')}">
<link rel="icon" href="${linkTo(page, 'docs/assets/icon.svg')}" type="image/svg+xml">
<link rel="search" href="${linkTo(page, SEARCH)}" title="Search">
<script defer src="${linkTo(page, 'docs/assets/script.js')}"></script>
<script defer src="${linkTo(page, 'docs/assets/site.js')}"></script>
${
  page === SEARCH &&
  html`<script defer src="assets/minisearch.js"></script>
<script defer src="assets/search-index.js"></script>
<script defer src="assets/search.js"></script>
`
}</head>
<body class="docs${page === contents && html` home`}">
<a class="skip" href="#content">Skip to content</a>
<header class="masthead">
<a class="brand" href="${linkTo(page, contents)}">${tile({ kind: 'mark' })}Tessera <span class="muted">documentation</span></a>
<form class="find" role="search" action="${linkTo(page, SEARCH)}">
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
<button>Search</button>
</form>
<a class="to-contents" href="#contents">Contents</a>
</header>
<div class="page">
<main id="content" tabindex="-1">
${section && html`<p class="muted small">${section.title}</p>`}
<article>
${new Markup(copyable(scrollable(marked)))}
</article>
${
  place >= 0 &&
  html`<nav class="steps" aria-label="Previous and next page">${step(order[place - 1], 'prev', 'Previous')}${step(order[place + 1], 'next', 'Next')}</nav>`
}
</main>
${
  page !== contents &&
  headings.length > 2 &&
  html`<nav class="headings" aria-labelledby="on-this-page">
<h2 id="on-this-page">On this page</h2>
<ul>${headings.map(({ anchor, text }) => html`<li><a href="#${anchor}">${text}</a></li>`)}</ul>
</nav>`
}
<nav id="contents" class="contents" aria-label="Contents" tabindex="-1">${sections.map(
    ({ title, groups }) => html`
<details${title === (section ?? sections[1])?.title && html` open`}>
<summary>${title}</summary>
${groups.map(
  ({ title: group, pages }) => html`${group !== undefined && html`<p>${group}</p>`}
<ul>${pages.map(({ path, label }) => html`<li><a href="${linkTo(page, path)}"${path === page && html` aria-current="page"`}>${label}</a></li>`)}</ul>
`,
)}</details>`,
  )}
</nav>
</div>
</body>
</html>
`.text;
}
