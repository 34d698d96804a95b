import { isSignedWith } from '../../keys/tokens.ts';
import { isolate } from '../kit/components.ts';
import { type Html, type HtmlPart, html } from '../kit/html.ts';
import type { Messages } from '../kit/messages.ts';
import type { Exchange } from './exchange.ts';
import { claimText, decodeToken } from './rules/decode-token.ts';
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
      tokensSection(text, session, session.tokens),
    ],
    userinfo: () => exchangeSection(text, text.userinfo.title, session.userinfo, granted(text, session)),
    refresh: () => [
      exchangeSection(text, text.refresh.title, session.refresh),
      tokensSection(text, session, session.refresh),
    ],
    revoke: () => revocationSection(text, session),
  };
  return [shown[step](), context.isLast && terminalSection(text, session, context)];
}

const card = (title: HtmlPart, ...content: readonly HtmlPart[]): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`;

/** Names and values, with an explanation of each. */
const explained = (rows: readonly (readonly [name: string, value: HtmlPart, line: HtmlPart])[]): Html =>
  html`<dl class="explained">${rows.map(([name, value, line]) => html`<div><dt><code>${name}</code></dt><dd><code>${value}</code><p>${line}</p></dd></div>`)}</dl>`;

const bytes = (text: string): Html => html`<pre>${isolate(text.replaceAll('\r\n', '\n'))}</pre>`;

const milliseconds = (duration: number): string => (duration < 0.1 ? 'under 0.1' : duration.toFixed(1));

/** A request and its response, byte for byte. */
const exchangeFigures = (text: Text, { request, answer, began, ended }: Exchange): Html =>
  html`<figure><figcaption>${text.request}</figcaption>${bytes(request)}</figure><figure><figcaption>${text.response} <span class="figures">${text.took(milliseconds(ended - began))}</span></figcaption>${bytes(answer)}</figure>`;

const exchangeSection = (text: Text, title: string, exchange: Exchange | null, note?: HtmlPart): HtmlPart =>
  exchange !== null && card(title, note, exchangeFigures(text, exchange));

function appSection(
  { app: text }: Text,
  { clientId, clientSecret }: PlaygroundSession,
  { baseUrl }: StepContext,
): Html {
  const row = (name: string, value: string) =>
    html`<div class="wide"><dt>${name}</dt><dd><code>${value}</code></dd></div>`;
  const rows = [
    row(text.clientId, clientId),
    row(text.clientSecret, clientSecret),
    row(text.redirectUri, baseUrl + CALLBACK),
  ];
  return card(text.title, html`<p class="muted small">${text.lead}</p>`, html`<dl class="facts">${rows}</dl>`);
}

function authorizationSection(
  { authorization: text }: Text,
  session: PlaygroundSession,
  { baseUrl }: StepContext,
): Html {
  const parameters = authorizationParameters(session, baseUrl);
  const names = Object.keys(parameters) as (keyof typeof parameters)[];
  return card(
    text.title,
    html`<p class="muted small">${text.lead}</p>`,
    bytes(`GET ${authorizationUrl(session, baseUrl)}`),
    explained(names.map((name) => [name, parameters[name], text.parameters[name]])),
    html`<p class="muted small">${text.pkce}</p>`,
    html`<dl class="facts"><div class="wide"><dt>${text.verifier}</dt><dd><code>${session.attempt.verifier}</code></dd></div></dl>`,
  );
}

function callbackSection({ callback: text }: Text, { callback, attempt }: PlaygroundSession): HtmlPart {
  if (callback === null) return undefined;
  const { request, code, error, description } = callback;
  const row = (name: string, value: string | null, line: string) =>
    value === null ? [] : [[name, isolate(value), line] as const];
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

function tokensSection(text: Text, session: PlaygroundSession, exchange: Exchange | null): HtmlPart {
  const tokens = tokensIn(exchange);
  if (tokens === undefined) return undefined;
  const names = ['access_token', 'refresh_token', 'id_token'] as const;
  return card(text.decodedTokens, html`<div>${names.map((name) => tokenDetails(text, session, name, tokens))}</div>`);
}

function tokenDetails(
  text: Text,
  { clientSecret }: PlaygroundSession,
  name: keyof ReceivedTokens,
  tokens: ReceivedTokens,
): HtmlPart {
  const token = tokens[name];
  const decoded = decodeToken(token);
  if (decoded === undefined) return undefined;
  const { parts, header, claims } = decoded;
  const signatureNote =
    name === 'id_token' ? (isSignedWith(clientSecret, token) ? text.verified : text.notVerified) : text.serverKey;
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
<pre class="jwt"><span>${parts[0]}</span>.<span>${parts[1]}</span>.<span>${parts[2]}</span></pre>
<h3>${text.header}</h3>${explained(rows(header, text.headerNames))}
<h3>${text.claims}</h3>${explained(rows(claims, text.claimNames))}
<h3>${text.signature}</h3><p class="small">${signatureNote}</p></div></details>`;
}

function revocationSection(text: Text, { revoke }: PlaygroundSession): HtmlPart {
  if (revoke === null) return undefined;
  const { act, userinfo, refresh } = revoke;
  const { revocation } = text;
  const rejection = (exchange: Exchange) => {
    const message = /"error_description":"([^"]*)"/.exec(exchange.answer)?.[1] ?? '';
    return html`<p class="verdict">${revocation.rejected(responseStatus(exchange), message)}</p>`;
  };
  return [
    card(
      revocation.disconnect,
      html`<p class="verdict">${revocation.took(milliseconds(act.ended - act.began))}</p>`,
      exchangeFigures(text, act),
    ),
    card(
      revocation.userinfo(milliseconds(userinfo.began - act.ended)),
      rejection(userinfo),
      exchangeFigures(text, userinfo),
    ),
    card(revocation.refresh, rejection(refresh), exchangeFigures(text, refresh)),
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
    userinfo: () => tokens && curl(userInfoRequest(tokens.access_token), baseUrl),
    refresh: () => tokens && curl(refreshRequest(session, tokens.refresh_token), baseUrl),
    revoke: () => disconnectCurl(session, baseUrl),
    again: () => tokens && curl(userInfoRequest(tokens.access_token), baseUrl),
  };
  const command = commands[action]();
  if (command === undefined || (action === 'again' && session.revoke === null)) return undefined;
  return card(
    terminal.title(action === 'again' ? terminal.stillRefused : text.do[action]),
    html`<p class="muted small">${terminal[action]}</p>`,
    html`<pre id="command">${command}</pre>`,
    html`<div><button class="link" type="button" hidden data-copy-of="command" data-other="${terminal.copied}" aria-label="${terminal.copyLabel}">${terminal.copy}</button></div>`,
  );
}
