import { createVerifier } from 'fast-jwt';
import { foreign } from '../kit/components.ts';
import { type Html, type HtmlPart, html } from '../kit/html.ts';
import type { Messages } from '../kit/messages.ts';
import {
  heldTokens,
  nextAction,
  type PlaygroundStep,
  type PlaygroundVisit,
  type ReceivedTokens,
  responseStatus,
  tokensIn,
} from './rules/progress.ts';
import {
  authorizationAddress,
  authorizationParameters,
  authorizeCurl,
  CALLBACK,
  curl,
  disconnectCurl,
  exchangeRequest,
  refreshRequest,
  userInfoRequest,
} from './rules/requests.ts';
import { claimText, unfold } from './rules/unfold.ts';
import type { Exchange } from './wire.ts';

type Text = Messages['playground'];

interface At {
  readonly baseUrl: string;
  /** Whether nothing came after this step yet. */
  readonly isLast: boolean;
}

/** What was on the wire at a step, and the command for what comes next. */
export function wireOf({ playground: text }: Messages, visit: PlaygroundVisit, step: PlaygroundStep, at: At): HtmlPart {
  const shown: Readonly<Record<PlaygroundStep, () => HtmlPart>> = {
    authorize: () => [appSection(text, visit, at), authorizationSection(text, visit, at)],
    code: () => callbackSection(text, visit),
    tokens: () => [exchangeSection(text, text.exchange.title, visit.tokens), tokensSection(text, visit, visit.tokens)],
    userinfo: () => exchangeSection(text, text.userinfo.title, visit.userinfo, granted(text, visit)),
    refresh: () => [
      exchangeSection(text, text.refresh.title, visit.refresh),
      tokensSection(text, visit, visit.refresh),
    ],
    revoke: () => revocationSection(text, visit),
  };
  return [shown[step](), at.isLast && terminalSection(text, visit, at)];
}

const card = (title: HtmlPart, ...content: readonly HtmlPart[]): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`;

/** Names with their values, and a line on each. */
const explained = (rows: readonly (readonly [name: string, value: HtmlPart, line: HtmlPart])[]): Html =>
  html`<dl class="explained">${rows.map(([name, value, line]) => html`<div><dt><code>${name}</code></dt><dd><code>${value}</code><p>${line}</p></dd></div>`)}</dl>`;

const bytes = (text: string): Html => html`<pre>${foreign(text.replaceAll('\r\n', '\n'))}</pre>`;

const milliseconds = (duration: number): string => (duration < 0.1 ? 'under 0.1' : duration.toFixed(1));

/** A request and its answer, as they were sent. */
const onTheWire = (text: Text, { request, answer, began, ended }: Exchange): Html =>
  html`<figure><figcaption>${text.request}</figcaption>${bytes(request)}</figure><figure><figcaption>${text.answer} <span class="figures">${text.took(milliseconds(ended - began))}</span></figcaption>${bytes(answer)}</figure>`;

const exchangeSection = (text: Text, title: string, exchange: Exchange | null, note?: HtmlPart): HtmlPart =>
  exchange !== null && card(title, note, onTheWire(text, exchange));

function appSection({ app: text }: Text, { clientId, clientSecret }: PlaygroundVisit, { baseUrl }: At): Html {
  const row = (name: string, value: string) =>
    html`<div class="wide"><dt>${name}</dt><dd><code>${value}</code></dd></div>`;
  const rows = [
    row(text.clientId, clientId),
    row(text.clientSecret, clientSecret),
    row(text.redirectUri, baseUrl + CALLBACK),
  ];
  return card(text.title, html`<p class="muted small">${text.lead}</p>`, html`<dl class="facts">${rows}</dl>`);
}

function authorizationSection({ authorization: text }: Text, visit: PlaygroundVisit, { baseUrl }: At): Html {
  const parameters = authorizationParameters(visit, baseUrl);
  const names = Object.keys(parameters) as (keyof typeof parameters)[];
  return card(
    text.title,
    html`<p class="muted small">${text.lead}</p>`,
    bytes(`GET ${authorizationAddress(visit, baseUrl)}`),
    explained(names.map((name) => [name, parameters[name], text.parameters[name]])),
    html`<p class="muted small">${text.pkce}</p>`,
    html`<dl class="facts"><div class="wide"><dt>${text.verifier}</dt><dd><code>${visit.attempt.verifier}</code></dd></div></dl>`,
  );
}

function callbackSection({ callback: text }: Text, { callback, attempt }: PlaygroundVisit): HtmlPart {
  if (callback === null) return undefined;
  const { request, code, error, description } = callback;
  const row = (name: string, value: string | null, line: string) =>
    value === null ? [] : [[name, foreign(value), line] as const];
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
    explained([...rows, ['iss', foreign(callback.iss), text.iss]]),
  );
}

const granted = (text: Text, visit: PlaygroundVisit): HtmlPart => {
  const scope = unfold(heldTokens(visit)?.access_token ?? '')?.claims['scope'];
  return (
    typeof scope === 'string' && html`<p class="muted small">${text.userinfo.granted(html`<code>${scope}</code>`)}</p>`
  );
};

function tokensSection(text: Text, visit: PlaygroundVisit, exchange: Exchange | null): HtmlPart {
  const tokens = tokensIn(exchange);
  if (tokens === undefined) return undefined;
  const names = ['access_token', 'refresh_token', 'id_token'] as const;
  return card(text.unfolded, html`<div>${names.map((name) => tokenDetails(text, visit, name, tokens))}</div>`);
}

function tokenDetails(
  text: Text,
  { clientSecret }: PlaygroundVisit,
  name: keyof ReceivedTokens,
  tokens: ReceivedTokens,
): HtmlPart {
  const token = tokens[name];
  const unfolded = unfold(token);
  if (unfolded === undefined) return undefined;
  const { parts, header, claims } = unfolded;
  const proved =
    name === 'id_token' ? (verifies(token, clientSecret) ? text.verified : text.notVerified) : text.serverKey;
  const rows = (of: Readonly<Record<string, unknown>>, lines: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([claim, value]) => {
      const { json, time } = claimText(claim, value);
      return [
        claim,
        [foreign(json), time !== undefined && html` <span class="muted">${time}</span>`],
        lines[claim] ?? text.otherClaim,
      ] as const;
    });
  return html`<details${name === 'access_token' && html` open`}><summary>${text.token[name]}</summary><div class="token"><p class="muted small">${text.tokenNote[name]}</p>
<pre class="jwt"><span>${parts[0]}</span>.<span>${parts[1]}</span>.<span>${parts[2]}</span></pre>
<h3>${text.header}</h3>${explained(rows(header, text.headerNames))}
<h3>${text.claims}</h3>${explained(rows(claims, text.claimNames))}
<h3>${text.signature}</h3><p class="small">${proved}</p></div></details>`;
}

/** OpenID Connect Core 1.0 §3.1.3.7, rule 8: the key is the UTF-8 of the client secret. */
function verifies(token: string, clientSecret: string): boolean {
  try {
    createVerifier({ key: clientSecret, algorithms: ['HS256'], ignoreExpiration: true })(token);
    return true;
  } catch {
    return false;
  }
}

function revocationSection(text: Text, { revoke }: PlaygroundVisit): HtmlPart {
  if (revoke === null) return undefined;
  const { act, userinfo, refresh } = revoke;
  const { revocation } = text;
  const refused = (exchange: Exchange) => {
    const message = /"error_description":"([^"]*)"/.exec(exchange.answer)?.[1] ?? '';
    return html`<p class="verdict">${revocation.refused(responseStatus(exchange), message)}</p>`;
  };
  return [
    card(
      revocation.act,
      html`<p class="verdict">${revocation.took(milliseconds(act.ended - act.began))}</p>`,
      onTheWire(text, act),
    ),
    card(revocation.userinfo(milliseconds(userinfo.began - act.ended)), refused(userinfo), onTheWire(text, userinfo)),
    card(revocation.refresh, refused(refresh), onTheWire(text, refresh)),
  ];
}

/** The command that does what the button does, where there is one. */
function terminalSection(text: Text, visit: PlaygroundVisit, { baseUrl }: At): HtmlPart {
  const { terminal } = text;
  const tokens = heldTokens(visit);
  const action = nextAction(visit) ?? 'authorize';
  const code = visit.callback?.code ?? '';
  const commands = {
    authorize: () => authorizeCurl(visit, baseUrl),
    tokens: () => curl(exchangeRequest(visit, code, baseUrl), baseUrl),
    userinfo: () => tokens && curl(userInfoRequest(tokens.access_token), baseUrl),
    refresh: () => tokens && curl(refreshRequest(visit, tokens.refresh_token), baseUrl),
    revoke: () => disconnectCurl(visit, baseUrl),
    again: () => tokens && curl(userInfoRequest(tokens.access_token), baseUrl),
  };
  const command = commands[action]();
  if (command === undefined || (action === 'again' && visit.revoke === null)) return undefined;
  return card(
    terminal.title(action === 'again' ? terminal.stillRefused : text.do[action]),
    html`<p class="muted small">${terminal[action]}</p>`,
    html`<pre id="command">${command}</pre>`,
    html`<div><button class="link" type="button" hidden data-copy-of="command" data-other="${terminal.copied}" aria-label="${terminal.copyLabel}">${terminal.copy}</button></div>`,
  );
}
