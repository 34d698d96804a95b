import { hidden, type Problems, problemSummary } from '../kit/components.ts';
import { type Html, type HtmlPart, html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import {
  nextAction,
  type PlaygroundAction,
  type PlaygroundStep,
  type PlaygroundVisit,
  reached,
  responseStatus,
  STEPS,
} from './rules/progress.ts';
import { authorizationAddress } from './rules/requests.ts';
import { wireOf } from './wire-page.ts';

/** What every page of the playground is made of. */
interface Standing {
  readonly token: string;
  readonly problems: Problems;
  readonly theme: NonNullable<Page['theme']> | null;
}

/** The page before a visit. @param others whether this browser has a visit of somebody who is not signed in */
export function introPage(site: Site, { token, problems, theme, others }: Standing & { others: boolean }): Page {
  const { messages, path } = site;
  const text = messages.playground;
  return {
    title: text.title,
    layout: 'broad',
    home: '/',
    theme,
    body: html`<div class="guide"><header><h1>${text.intro.heading}</h1></header>
${problemSummary(messages, problems)}
${others && html`<div class="notice"><p>${text.others}</p><p><a href="${path('/login')}">${text.signIn}</a></p></div>`}
<p>${text.intro.lead}</p>
<form method="post" action="${path('/playground')}">${hidden(token, { act: 'begin' })}<button class="primary" type="submit">${text.intro.begin}</button></form>
<p class="muted small">${text.intro.account} ${text.intro.ends}</p></div>
<section class="card"><h2>${text.intro.what}</h2><ol class="outline">${STEPS.map((step) => html`<li><strong><span class="figures muted">${STEPS.indexOf(step) + 1}</span> ${text.steps[step]}</strong><p class="muted">${text.intro.each[step]}</p></li>`)}</ol></section>`,
  };
}

interface Shown extends Standing {
  readonly visit: PlaygroundVisit;
  readonly turn: number;
  readonly step: PlaygroundStep;
  readonly baseUrl: string;
}

/** A step of a visit: where it stands and what comes next on the left, the wire on the right. */
export function visitPage(site: Site, shown: Shown): Page {
  const { messages, path } = site;
  const text = messages.playground;
  const { visit, step, token, turn, problems, theme, baseUrl } = shown;
  const steps = reached(visit);
  const last = steps.at(-1) ?? 'authorize';
  const ends = new Date(visit.expiresAt);
  const until = html`<time datetime="${ends.toISOString()}">${ends.toISOString().slice(11, 16)} UTC</time>`;
  const form = (act: PlaygroundAction | 'begin', button: HtmlPart) =>
    html`<form method="post" action="${path('/playground')}">${hidden(token, { act, turn: String(turn) })}${button}</form>`;
  return {
    title: `${text.steps[step]} – ${text.title}`,
    layout: 'broad',
    home: '/',
    theme,
    body: html`<div class="guide">${stepsNav(site, steps, step)}
${problemSummary(messages, problems)}
<section class="card"><header><h1>${text.steps[step]}</h1><p>${story(text, visit, step)}</p></header>
${step === last ? nextOf(site, visit, baseUrl, form) : html`<p><a href="${path('/playground')}">${text.toLatest(text.steps[last])}</a></p>`}</section>
<div class="small muted">${text.begun(until)}${form('begin', html`<button class="link" type="submit">${text.beginAnew}</button>`)}</div></div>
<div class="stack wire">${wireOf(messages, visit, step, { baseUrl, isLast: step === last })}</div>`,
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

/** What has happened at a step, as it truly ended. */
function story({ now: text }: Site['messages']['playground'], visit: PlaygroundVisit, step: PlaygroundStep): string {
  if (step === 'code' && visit.callback?.code === null) return text.refused;
  if (step === 'tokens' || step === 'userinfo' || step === 'refresh') {
    const exchange = visit[step];
    if (exchange !== null && responseStatus(exchange) !== 200) return text[`${step}Refused`];
  }
  return text[step];
}

function nextOf(
  { messages }: Site,
  visit: PlaygroundVisit,
  baseUrl: string,
  form: (act: PlaygroundAction, button: HtmlPart) => Html,
): Html {
  const text = messages.playground;
  const action = nextAction(visit);
  if (action === null) {
    return html`<a class="primary" href="${authorizationAddress(visit, baseUrl)}">${text.do.authorize}</a>`;
  }
  const note = action === 'revoke' ? text.revokeNote : visit.revoke === null ? undefined : text.againNote;
  const kind = action === 'revoke' ? 'danger' : 'primary';
  const button = html`<button class="${kind}" type="submit">${text.do[action]}</button>`;
  return html`${note !== undefined && html`<p class="muted small">${note}</p>`}${form(action, button)}`;
}
