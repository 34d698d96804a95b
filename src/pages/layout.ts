import type { FastifyReply } from 'fastify';
import { textDirection } from '../platform/validation/language.ts';
import { assets } from './assets.ts';
import { hasProblems, helpLine, NO_PROBLEMS, type Problems } from './components.ts';
import { type Html, type HtmlPart, html, withoutMarkup } from './html.ts';
import { tile } from './mark.ts';
import type { Messages } from './messages.ts';

/** Prefixes a path with that of the base URL. */
export type Path = (path: string) => string;

/** What every page needs besides its content. */
export interface Site {
  readonly path: Path;
  readonly messages: Messages;
  /** The host of the base URL. */
  readonly host: string;
  /** Whom people ask for help: an email address or an https URL. */
  readonly contact?: string | undefined;
}

export interface Page {
  readonly title: HtmlPart;
  readonly body: Html;
  /** `narrow` for a step of a sign-in, `wide` for the account, `broad` for pages that need the whole width, `console` for operators. */
  readonly layout: 'narrow' | 'wide' | 'broad' | 'console';
  /** What has to be corrected: the title, which screen readers read first, says that there is something. */
  readonly problems?: Problems;
  /** The choice of the signed-in person. */
  readonly theme?: 'light' | 'dark' | 'system' | null;
  /** The path to which the mark links, except on narrow pages; `/account` unless set. */
  readonly home?: string;
  /** Files of scripts besides the one of every page. */
  readonly scripts?: readonly ('strength' | 'passkeys' | 'picture' | 'follow')[];
  /** At the end of the masthead, such as a form that signs out. */
  readonly aside?: Html;
}

/** The scripts that send requests. */
const CONNECTING: ReadonlySet<string> = new Set(['passkeys', 'follow']);

/** The style sheets of layouts with more than every page has. */
const SHEETS: Partial<Record<Page['layout'], { readonly path: string }>> = {
  broad: assets.playground,
  console: assets.operators,
};

/** The document of a page. */
export function document(site: Site, page: Page): string {
  const more = SHEETS[page.layout];
  const { path, messages } = site;
  const theme = page.theme === 'light' || page.theme === 'dark' ? html` data-theme="${page.theme}"` : undefined;
  const title = hasProblems(page.problems ?? NO_PROBLEMS) ? messages.problemPage(page.title) : page.title;
  const brand = html`${tile({ kind: 'mark' })}${messages.product}`;
  return html`<!doctype html>
<html lang="${messages.language}" dir="${textDirection(messages.language)}"${theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${withoutMarkup(title)} – ${messages.product}</title>
<link rel="stylesheet" href="${path(assets.style.path)}">${more !== undefined && html`<link rel="stylesheet" href="${path(more.path)}">`}
<link rel="icon" href="${path(assets.icon.path)}" type="image/svg+xml">
<script src="${path(assets.script.path)}" type="module"></script>${page.scripts?.map((name) => html`<script src="${path(assets[name].path)}" type="module"></script>`)}${page.layout === 'console' && html`<script src="${path(assets.operatorsScript.path)}" type="module"></script>`}
</head>
<body class="${more === undefined ? page.layout : `wide ${page.layout}`}">
<a class="skip" href="#content">${messages.skipToContent}</a>
<header class="masthead">${
    // A step of a sign-in has no link away from it: the app would wait in vain.
    page.layout === 'narrow'
      ? html`<span class="brand">${brand}</span>`
      : html`<a class="brand" href="${path(page.home ?? '/account')}">${brand}</a>`
  }${page.aside}</header>
<main id="content" tabindex="-1">
${page.body}
</main>
${page.layout !== 'narrow' && helpLine(site)}
</body>
</html>
`.text;
}

/**
 * Sends a page with a content security policy: nothing from other origins, no framing, no script but our file.
 * @param formTargets the CSP sources, besides our own origin, to which a form of the page may lead
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  site: Site,
  page: Page,
  formTargets: readonly string[] = [],
): FastifyReply {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    // The script of passkeys asks for challenges, those of the console and of what is being made for their pages.
    `connect-src ${page.layout === 'console' || page.scripts?.some((name) => CONNECTING.has(name)) ? "'self'" : "'none'"}`,
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
  ].join('; ');
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('cache-control', 'no-store')
    .send(document(site, page));
}
