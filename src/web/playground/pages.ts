import type { EndpointSet } from '../../claims/endpoint-set.ts';
import { hidden, type Problems, problemSummary } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { exchangesOf } from './exchange-view.ts';
import {
  nextAction,
  type PlaygroundAction,
  type PlaygroundSession,
  type PlaygroundStep,
  reachedSteps,
  responseStatus,
  STEPS,
} from './rules/progress.ts';
import { authorizationUrl } from './rules/requests.ts';

interface PlaygroundPage {
  readonly token: string;
  readonly problems: Problems;
  readonly theme: NonNullable<Page['theme']> | null;
}

interface IntroPage extends PlaygroundPage {
  /** Whether this browser has a session that belongs to an account that is not signed in. */
  readonly otherAccount: boolean;
}

/** The sets of endpoints to choose from: first the one that libraries use. */
const CHOICES: readonly EndpointSet[] = ['oidc', 'v2'];

/** The page before a session. */
export function introPage(site: Site, { token, problems, theme, otherAccount }: IntroPage): Page {
  const { messages, path } = site;
  const text = messages.playground;
  return {
    title: text.title,
    layout: 'broad',
    problems,
    home: '/',
    theme,
    body: html`<div class="guide"><header><h1>${text.intro.heading}</h1></header>
${problemSummary(messages, problems)}
${otherAccount && html`<div class="notice"><p>${text.otherAccount}</p><p><a href="${path('/login')}">${text.signIn}</a></p></div>`}
<p>${text.intro.lead}</p>
${CHOICES.map((endpoints) => {
  const { start, note } = text.intro.choices[endpoints];
  const kind = endpoints === CHOICES[0] ? 'primary' : 'equal';
  return html`<form method="post" action="${path('/playground')}">${hidden(token, { action: 'start', endpoints })}<button class="${kind}" type="submit">${start}</button><p class="muted small">${note}</p></form>`;
})}
<p class="muted small">${text.intro.account} ${text.intro.ends}</p></div>
<section class="card"><h2>${text.intro.what}</h2><ol class="outline">${STEPS.map((step) => html`<li><strong><span class="figures muted">${STEPS.indexOf(step) + 1}</span> ${text.steps[step]}</strong><p class="muted">${text.intro.each[step]}</p></li>`)}</ol></section>`,
  };
}

interface StepPage extends PlaygroundPage {
  readonly session: PlaygroundSession;
  readonly turn: number;
  readonly step: PlaygroundStep;
  /** Whether the ID token of the step verifies with what the app has. */
  readonly verified: boolean;
  readonly baseUrl: string;
}

/** A step: its explanation and the next action on the left, its exchanges on the right. */
export function stepPage(site: Site, page: StepPage): Page {
  const { messages, path } = site;
  const text = messages.playground;
  const { session, step, token, turn, problems, theme, verified, baseUrl } = page;
  const steps = reachedSteps(session);
  const last = steps.at(-1) ?? 'authorize';
  const ends = new Date(session.expiresAt);
  const until = html`<time datetime="${ends.toISOString()}">${ends.toISOString().slice(11, 16)} UTC</time>`;
  const post = (fields: Readonly<Record<string, string>>, button: HtmlPart) =>
    html`<form method="post" action="${path('/playground')}">${hidden(token, fields)}${button}</form>`;
  const form = (action: PlaygroundAction, button: HtmlPart) => post({ action, turn: String(turn) }, button);
  return {
    title: `${text.steps[step]} – ${text.title}`,
    layout: 'broad',
    problems,
    home: '/',
    theme,
    body: html`<div class="guide">${stepsNav(site, steps, step)}
${problemSummary(messages, problems)}
<section class="card"><header><h1>${text.steps[step]}</h1><p>${stepText(text, session, step)}</p></header>
${step === last ? nextActionForm(site, session, baseUrl, form) : html`<p><a href="${path('/playground')}">${text.toLatest(text.steps[last])}</a></p>`}</section>
<div class="small muted">${text.endsAt(until)} ${text.startOver.lead}${CHOICES.map((endpoints) => post({ action: 'start', endpoints }, html`<button class="link" type="submit">${text.startOver[endpoints]}</button>`))}</div></div>
<div class="stack exchanges">${exchangesOf(messages, session, step, { baseUrl, verified, isLast: step === last })}</div>`,
  };
}

function stepsNav({ messages, path }: Site, done: readonly PlaygroundStep[], current: PlaygroundStep): Html {
  const text = messages.playground;
  const items = STEPS.map((step) => {
    const name = html`<span class="figures">${STEPS.indexOf(step) + 1}</span> ${text.steps[step]}`;
    if (!done.includes(step)) return html`<li><span>${name}</span></li>`;
    return html`<li><a href="${path(`/playground?step=${step}`)}"${step === current && html` aria-current="step"`}>${name}</a></li>`;
  });
  return html`<nav aria-label="${text.nav}"><ol class="steps">${items}</ol></nav>`;
}

/** What happened at a step, whether it succeeded or was rejected. */
function stepText(
  { now: text }: Site['messages']['playground'],
  session: PlaygroundSession,
  step: PlaygroundStep,
): string {
  if (step === 'code' && session.callback?.code === null) return text.refused;
  if (step === 'tokens' || step === 'userinfo' || step === 'refresh') {
    const exchange = session[step];
    if (exchange !== null && responseStatus(exchange) !== 200) return text[`${step}Refused`];
  }
  return text[step];
}

function nextActionForm(
  { messages }: Site,
  session: PlaygroundSession,
  baseUrl: string,
  form: (action: PlaygroundAction, button: HtmlPart) => Html,
): Html {
  const text = messages.playground;
  const action = nextAction(session);
  if (action === null) {
    return html`<a class="primary" href="${authorizationUrl(session, baseUrl)}">${text.do.authorize}</a>`;
  }
  const note = action === 'revoke' ? text.revokeNote : session.revoke === null ? undefined : text.againNote;
  const kind = action === 'revoke' ? 'danger' : 'primary';
  const button = html`<button class="${kind}" type="submit">${text.do[action]}</button>`;
  return html`${note !== undefined && html`<p class="muted small">${note}</p>`}${form(action, button)}`;
}
