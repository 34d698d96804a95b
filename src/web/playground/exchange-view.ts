import { copyable, copyButton, isolate } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Exchange } from './exchange.ts';
import { claimText, decodeToken } from './rules/decode-token.ts';
import { errorDescription, messageParts } from './rules/message.ts';
import {
  currentTokens,
  nextAction,
  type PlaygroundSession,
  type PlaygroundStep,
  type ReceivedTokens,
  responseStatus,
  tokensIn,
} from './rules/progress.ts';
import {
  authorizationParameters,
  authorizationUrl,
  authorizeCurl,
  CALLBACK,
  curl,
  disconnectCurl,
  exchangeRequest,
  refreshRequest,
  userInfoRequest,
} from './rules/requests.ts';

type Text = Messages['playground'];

interface StepContext {
  readonly baseUrl: string;
  /** Whether the ID token of the step verifies with what the app has. */
  readonly verified: boolean;
  /** Whether this is the last step so far. */
  readonly isLast: boolean;
}

/** The exchanges of a step, and the curl command for the next action. */
export function exchangesOf(
  { playground: text }: Messages,
  session: PlaygroundSession,
  step: PlaygroundStep,
  context: StepContext,
): HtmlPart {
  const shown: Readonly<Record<PlaygroundStep, () => HtmlPart>> = {
    authorize: () => [appSection(text, session, context), authorizationSection(text, session, context)],
    code: () => callbackSection(text, session),
    tokens: () => [
      exchangeSection(text, text.exchange.title, session.tokens),
      exchangeSection(text, text.keySet.title, session.keySet, html`<p class="muted small">${text.keySet.lead}</p>`),
      tokensSection(text, session, session.tokens, context),
    ],
    userinfo: () => exchangeSection(text, text.userinfo.title, session.userinfo, granted(text, session)),
    refresh: () => [
      exchangeSection(text, text.refresh.title, session.refresh),
      tokensSection(text, session, session.refresh, context),
    ],
    revoke: () => revocationSection(text, session),
  };
  return [shown[step](), context.isLast && terminalSection(text, session, context)];
}

const card = (title: HtmlPart, ...content: readonly HtmlPart[]): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`;

/** A name and its value, with an explanation, and a button where one would paste the value elsewhere. */
type ExplainedRow = readonly [name: string, value: HtmlPart, line: HtmlPart, copy?: Html];

const explained = (rows: readonly ExplainedRow[]): Html =>
  html`<dl class="explained">${rows.map(([name, value, line, copy]) => html`<div><dt><code>${name}</code></dt><dd><code>${value}</code>${copy}<p>${line}</p></dd></div>`)}</dl>`;

/** A value that one would paste elsewhere, below its name. */
const valueRow = (text: Text, name: string, value: string): Html =>
  html`<div class="wide"><dt>${name}</dt><dd>${copyable(value, text, text.copyOf(name))}</dd></div>`;

const bytes = (text: string): Html => html`<pre>${isolate(text.replaceAll('\r\n', '\n'))}</pre>`;

const milliseconds = (duration: number): string => (duration < 0.1 ? 'under 0.1' : duration.toFixed(1));

/** The outcome of a request, in one line: status, time, and why it was refused. */
function outcome(text: Text, exchange: Exchange): Html {
  const status = responseStatus(exchange);
  const time = milliseconds(exchange.ended - exchange.began);
  const reason = errorDescription(messageParts(exchange.answer));
  return html`<p class="verdict${status >= 400 && html` refused`}"><strong class="figures">${text.outcome(status, time)}</strong>${reason !== undefined && [': ', isolate(reason)]}</p>`;
}

/** A message: its body, indented if it is JSON, and its head folded. */
function messageFigure(text: Text, kind: 'sent' | 'received', title: string, message: string): Html {
  const { head, body } = messageParts(message);
  const caption = kind === 'sent' ? text.request : text.response;
  const [start = ''] = head.split('\r\n', 1);
  const id = `${kind}-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  const copy = html`<button class="link" type="button" hidden data-copy-of="${id}" data-other="${text.copied}" aria-label="${text.copyOf(`${caption}: ${title}`)}">${text.copy}</button>`;
  return html`<figure class="${kind}"><figcaption>${caption} <code>${start}</code></figcaption><details><summary>${text.headers}</summary>${bytes(head)}</details>${body !== '' && html`<pre id="${id}">${isolate(body)}</pre>${copy}`}</figure>`;
}

/** The outcome of an exchange, its response and its request. */
const exchangeFigures = (text: Text, title: string, exchange: Exchange): readonly Html[] => [
  outcome(text, exchange),
  messageFigure(text, 'received', title, exchange.answer),
  messageFigure(text, 'sent', title, exchange.request),
];

const exchangeSection = (text: Text, title: string, exchange: Exchange | null, note?: HtmlPart): HtmlPart =>
  exchange !== null && card(title, note, exchangeFigures(text, title, exchange));

function appSection(text: Text, session: PlaygroundSession, { baseUrl }: StepContext): Html {
  const { endpoints, clientId, clientSecret } = session;
  const { app } = text;
  const rows = [
    endpoints === 'oidc' && valueRow(text, app.issuer, baseUrl),
    valueRow(text, app.clientId, clientId),
    valueRow(text, app.clientSecret, clientSecret),
    valueRow(text, app.redirectUri, baseUrl + CALLBACK),
  ];
  return card(app.title, html`<p class="muted small">${app.lead}</p>`, html`<dl class="facts">${rows}</dl>`);
}

function authorizationSection(all: Text, session: PlaygroundSession, { baseUrl }: StepContext): Html {
  const { authorization: text } = all;
  const url = authorizationUrl(session, baseUrl);
  const parameters = authorizationParameters(session, baseUrl);
  const names = Object.keys(parameters) as (keyof typeof parameters)[];
  return card(
    text.title,
    html`<p class="muted small">${text.lead}</p>`,
    bytes(`GET ${url}`),
    html`<div>${copyButton(url, all, all.copyOf(text.url))}</div>`,
    explained(
      names.map((name) => [
        name,
        parameters[name],
        name === 'scope' ? text.scope[session.endpoints] : text.parameters[name],
      ]),
    ),
    html`<p class="muted small">${text.pkce}</p>`,
    html`<dl class="facts">${valueRow(all, text.verifier, session.attempt.verifier)}</dl>`,
  );
}

function callbackSection(all: Text, { callback, attempt }: PlaygroundSession): HtmlPart {
  if (callback === null) return undefined;
  const { callback: text } = all;
  const { request, code, error, description } = callback;
  const row = (name: string, value: string | null, line: string): readonly ExplainedRow[] =>
    value === null ? [] : [[name, isolate(value), line, copyButton(value, all, all.copyOf(name))]];
  const rows = [
    ...row('code', code, text.code),
    ...row('error', error, text.error),
    ...row('error_description', description, text.errorDescription),
    ...row('state', attempt.state, text.state),
  ];
  return card(
    text.title,
    html`<p class="muted small">${text.lead}</p>`,
    bytes(request),
    explained([...rows, ['iss', isolate(callback.iss), text.iss]]),
  );
}

const granted = (text: Text, session: PlaygroundSession): HtmlPart => {
  const scope = decodeToken(currentTokens(session)?.access_token ?? '')?.claims['scope'];
  return (
    typeof scope === 'string' && html`<p class="muted small">${text.userinfo.granted(html`<code>${scope}</code>`)}</p>`
  );
};

function tokensSection(
  text: Text,
  { endpoints }: PlaygroundSession,
  exchange: Exchange | null,
  { verified }: StepContext,
): HtmlPart {
  const tokens = tokensIn(exchange);
  if (tokens === undefined) return undefined;
  const idTokenNote = verified ? text.verified[endpoints] : text.notVerified[endpoints];
  const names = ['access_token', 'refresh_token', 'id_token'] as const;
  return card(
    text.decodedTokens,
    html`<div>${names.map((name) => tokenDetails(text, name, tokens, idTokenNote))}</div>`,
  );
}

function tokenDetails(text: Text, name: keyof ReceivedTokens, tokens: ReceivedTokens, idTokenNote: string): HtmlPart {
  const token = tokens[name];
  const decoded = decodeToken(token);
  if (decoded === undefined) return undefined;
  const { parts, header, claims } = decoded;
  const signatureNote = name === 'id_token' ? idTokenNote : text.serverKey;
  const rows = (of: Readonly<Record<string, unknown>>, lines: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([claim, value]) => {
      const { json, time } = claimText(claim, value);
      return [
        claim,
        [isolate(json), time !== undefined && html` <span class="muted">${time}</span>`],
        lines[claim] ?? text.otherClaim,
      ] as const;
    });
  return html`<details${name === 'access_token' && html` open`}><summary>${text.token[name]}</summary><div class="token"><p class="muted small">${text.tokenNote[name]}</p>
<pre class="jwt" id="${name}"><span>${parts[0]}</span>.<span>${parts[1]}</span>.<span>${parts[2]}</span></pre>
<div><button class="link" type="button" hidden data-copy-of="${name}" data-other="${text.copied}" aria-label="${text.copyOf(text.token[name])}">${text.copy}</button></div>
<h3>${text.header}</h3>${explained(rows(header, text.headerNames))}
<h3>${text.claims}</h3>${explained(rows(claims, text.claimNames))}
<h3>${text.signature}</h3><p class="small">${signatureNote}</p></div></details>`;
}

function revocationSection(text: Text, { revoke }: PlaygroundSession): HtmlPart {
  if (revoke === null) return undefined;
  const { act, userinfo, refresh } = revoke;
  const { revocation } = text;
  const section = (title: string, exchange: Exchange, note?: Html) =>
    card(title, note, exchangeFigures(text, title, exchange));
  return [
    section(revocation.disconnect, act),
    section(
      revocation.userinfo(milliseconds(userinfo.began - act.ended)),
      userinfo,
      html`<p class="muted small">${revocation.note}</p>`,
    ),
    section(revocation.refresh, refresh),
  ];
}

/** The curl command that does the same as the button. */
function terminalSection(text: Text, session: PlaygroundSession, { baseUrl }: StepContext): HtmlPart {
  const { terminal } = text;
  const tokens = currentTokens(session);
  const action = nextAction(session) ?? 'authorize';
  const code = session.callback?.code ?? '';
  const commands = {
    authorize: () => authorizeCurl(session, baseUrl),
    tokens: () => curl(exchangeRequest(session, code, baseUrl), baseUrl),
    userinfo: () => tokens && curl(userInfoRequest(session, tokens.access_token), baseUrl),
    refresh: () => tokens && curl(refreshRequest(session, tokens.refresh_token), baseUrl),
    revoke: () => disconnectCurl(session, baseUrl),
    again: () => tokens && curl(userInfoRequest(session, tokens.access_token), baseUrl),
  };
  const command = commands[action]();
  if (command === undefined || (action === 'again' && session.revoke === null)) return undefined;
  return card(
    terminal.title(action === 'again' ? terminal.stillRefused : text.do[action]),
    html`<p class="muted small">${terminal[action]}</p>`,
    html`<pre id="command">${command}</pre>`,
    html`<div><button class="link" type="button" hidden data-copy-of="command" data-other="${text.copied}" aria-label="${terminal.copyLabel}">${text.copy}</button></div>`,
  );
}
