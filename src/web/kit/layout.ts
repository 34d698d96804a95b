import type { FastifyReply } from 'fastify';
import { assets } from './assets.ts';
import { type Html, html } from './html.ts';
import { tile } from './mark.ts';
import type { Messages } from './messages.ts';

/** Addresses inside the service: they carry the path of the base URL, if it has one. */
export type Path = (path: string) => string;

/** What every page needs besides its own content. */
export interface Site {
  readonly path: Path;
  readonly messages: Messages;
}

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** One card, for a step on somebody's way; the pages of the account; or what needs all the room. */
  readonly layout: 'narrow' | 'wide' | 'broad';
  /** The person's own choice, where one is signed in. */
  readonly theme?: 'light' | 'dark' | 'system' | null;
  /** Where the mark leads, but on a step: the account, unless something else is said. */
  readonly home?: string;
  /** Stands at the end of the first line: for a way to sign out. */
  readonly aside?: Html;
}

/** The whole document around a page's content. */
export function document({ path, messages }: Site, page: Page): string {
  const theme = page.theme === 'light' || page.theme === 'dark' ? html` data-theme="${page.theme}"` : undefined;
  const brand = html`${tile({ kind: 'mark' })}${messages.product}`;
  return html`<!doctype html>
<html lang="${messages.language}"${theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} – ${messages.product}</title>
<link rel="stylesheet" href="${path(assets.style.path)}">${page.layout === 'broad' && html`<link rel="stylesheet" href="${path(assets.playground.path)}">`}
<link rel="icon" href="${path(assets.icon.path)}" type="image/svg+xml">
<script src="${path(assets.script.path)}" type="module"></script>
</head>
<body class="${page.layout === 'broad' ? 'wide broad' : page.layout}">
<a class="skip" href="#content">${messages.skipToContent}</a>
<header class="masthead">${
    // On a step of a sign-in there is no way aside: it would leave the app waiting.
    page.layout === 'narrow'
      ? html`<span class="brand">${brand}</span>`
      : html`<a class="brand" href="${path(page.home ?? '/account')}">${brand}</a>`
  }${page.aside}</header>
<main id="content" tabindex="-1">
${page.body}
</main>
</body>
</html>
`.text;
}

/**
 * Sends a page with its policy: nothing from elsewhere, no frame around it, no script but our own file.
 * @param formTargets CSP sources besides our own under which a form of the page may end
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
    "connect-src 'none'",
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
