import { BRAND, hexColor } from '../../platform/brand.ts';
import { type TextDirection, textDirection } from '../../platform/validation/language.ts';
import { aroundFacts, type MailContent, type MailFact, spaced } from '../content.ts';
import { mailTexts } from '../messages.ts';

const { layout: texts } = mailTexts;

/** A message as it is sent: the same content twice. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Whom people ask for help. */
export interface Helper {
  /** An email address or a URL of the operator, if the settings name one. */
  readonly contact?: string | undefined;
  /** The host of the base URL. */
  readonly host: string;
}

export function renderMail(content: MailContent, helper: Helper): RenderedMail {
  const visible = withoutControls(content);
  const help = texts.help(helper);
  return { subject: visible.subject, text: renderText(visible, help), html: renderHtml(visible, help) };
}

/** Control characters and line breaks, and characters that change the direction of the text around them. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** Names of people, devices and factors must not rewrite the sentence around them, whatever an earlier version or a browser gave. */
function withoutControls({ language, subject, paragraphs, facts, code, action, footer }: MailContent): MailContent {
  const visible = (text: string) => text.replace(CONTROLS, ' ');
  return {
    ...(language !== undefined && { language }),
    subject: visible(subject),
    paragraphs: paragraphs.map(visible),
    ...(facts !== undefined && { facts: facts.map(([name, value]) => [visible(name), visible(value)] as const) }),
    ...(code !== undefined && { code: visible(code) }),
    ...(action !== undefined && { action: { ...action, label: visible(action.label) } }),
    ...(footer !== undefined && { footer: footer.map(visible) }),
  };
}

/*
 * Mail programs make links of what looks like an address, and a username such as `evil.example` does. In plain text it is quoted, as what
 * it is; in HTML its dots are elements, so that it can still be copied and is no address. The one link of a message is neither.
 */
const HOST_NAME = /(?<![\p{L}\p{N}@./:_“-])((?:[\p{L}\p{N}_-]+\.)+\p{L}{2,})(?![\p{L}\p{N}@/:_-])/gu;
const quoted = (text: string): string => text.replace(HOST_NAME, '“$1”');
const unlinked = (html: string): string =>
  html.replace(/(?<=[\p{L}\p{N}_-])\.(?=[\p{L}\p{N}])|:(?=\/\/)/gu, '<span>$&</span>');

function renderText(content: MailContent, help: string): string {
  const { facts = [], code, action, footer = [] } = content;
  const { before, after } = aroundFacts(content);
  const parts = [
    ...before.map(quoted),
    ...(facts.length === 0 ? [] : [facts.map(([name, value]) => texts.labeled(name, quoted(value))).join('\n')]),
    ...after.map(quoted),
    ...(code === undefined ? [] : [`    ${spaced(code)}`]),
    ...(action === undefined ? [] : [`${texts.above(action.label)}\n${action.url}`]),
    ...footer.map(quoted),
    help,
  ];
  return `${parts.map(wrapped).join('\n\n')}\n`;
}

/** Breaks lines at 76 characters, except inside a word, which may be a link. */
function wrapped(paragraph: string): string {
  return paragraph
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line : line.replace(/(?=.{77})(.{1,76})[ ]/g, '$1\n')))
    .join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/*
 * Mail programs apply little of CSS: colors stand in the elements, in hexadecimal, and a media query darkens them where that is known.
 * They are those of the pages. Nothing is loaded, so that a message tells nobody that it was opened.
 */
const ACCENT = hexColor(BRAND.light.accent);
const DARK_ACCENT = hexColor(BRAND.dark.accent);

const DARK = `@media (prefers-color-scheme: dark) {
body, .paper { background: #131318 !important; color: #eaebef !important }
.card { background: #1c1c22 !important; border-color: #34353b !important }
.code { background: #2f2230 !important; color: #eaebef !important }
.muted { color: #aaaab2 !important }
.line { border-color: #34353b !important }
.button { background: ${DARK_ACCENT} !important; color: ${hexColor(BRAND.dark.onAccent)} !important }
.link { color: ${DARK_ACCENT} !important }
}`;

const NARROW = `@media (max-width: 400px) {
.page { padding: 16px 8px !important }
.card { padding: 16px !important }
}`;

const FONT = "font-family: system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const MONO = 'font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';

function renderFacts(facts: readonly MailFact[], direction: TextDirection): string {
  if (facts.length === 0) return '';
  // Mail programs know few logical properties.
  const gap = direction === 'rtl' ? '2px 0 2px 16px' : '2px 16px 2px 0';
  const row = ([name, value]: MailFact) =>
    `<tr><td class="muted" style="padding: ${gap}; color: #595966; vertical-align: top; white-space: nowrap">${unlinked(escaped(name))}</td><td style="padding: 2px 0">${unlinked(escaped(value))}</td></tr>`;
  return `<table role="presentation" style="margin: 0 0 16px; border-collapse: collapse; font-size: 14px">${facts.map(row).join('')}</table>`;
}

function renderHtml(content: MailContent, help: string): string {
  const { before, after } = aroundFacts(content);
  const { language = 'en', subject, facts = [], code, action, footer = [] } = content;
  const direction = textDirection(language);
  const paragraph = (text: string) => `<p style="margin: 0 0 16px">${unlinked(escaped(text))}</p>`;
  const small = (text: string) =>
    `<p class="muted" style="margin: 12px 0 0; font-size: 14px; color: #595966">${unlinked(escaped(text))}</p>`;
  const shownCode =
    code === undefined
      ? ''
      : `<p class="code" dir="ltr" style="margin: 0 0 20px; padding: 14px 16px; border-radius: 8px; background: #f7eef6; color: #1e1e29; font-size: 28px; font-weight: 600; letter-spacing: 0.08em; text-align: center; ${MONO}">${escaped(spaced(code))}</p>`;
  const shownAction =
    action === undefined
      ? ''
      : `<p style="margin: 0 0 16px"><a class="button" href="${escaped(action.url)}" style="display: inline-block; padding: 11px 20px; border-radius: 8px; background: ${ACCENT}; color: ${hexColor(BRAND.light.onAccent)}; font-weight: 600; text-decoration: none">${escaped(action.label)}</a></p>
<p class="muted" style="margin: 0; font-size: 14px; color: #595966; overflow-wrap: anywhere; word-break: break-word">${escaped(texts.orOpen)} <a class="link" dir="ltr" href="${escaped(action.url)}" style="color: ${ACCENT}">${escaped(action.url)}</a></p>`;
  const end =
    footer.length === 0
      ? ''
      : `<div class="line" style="margin-top: 20px; border-top: 1px solid #dddde2; padding-top: 4px">${footer.map(small).join('\n')}</div>`;
  return `<!doctype html>
<html lang="${escaped(language)}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(subject)}</title>
<style>
${DARK}
${NARROW}
</style>
</head>
<body class="paper" style="margin: 0; background: #fbfaf7; color: #1e1e29; font-size: 16px; line-height: 1.5; ${FONT}">
<div class="paper page" style="max-width: 512px; margin: 0 auto; padding: 32px 16px; background: #fbfaf7; color: #1e1e29">
<p class="muted" style="margin: 0 0 16px; font-size: 14px; font-weight: 600; color: #595966">${escaped(BRAND.name)}</p>
<div class="card" style="padding: 24px; overflow-wrap: anywhere; word-break: break-word; border: 1px solid #dddde2; border-radius: 10px; background: #ffffff">
<h1 style="margin: 0 0 16px; font-size: 22px; line-height: 1.3; font-weight: 600">${unlinked(escaped(subject))}</h1>
${before.map(paragraph).join('\n')}
${renderFacts(facts, direction)}
${after.map(paragraph).join('\n')}
${shownCode}
${shownAction}
${end}
</div>
<p class="muted" style="margin: 16px 0 0; font-size: 14px; color: #595966; overflow-wrap: anywhere">${escaped(help)}</p>
</div>
</body>
</html>
`;
}
