import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endSecret, getClient, rotateSecret, updateClient } from '../../clients/clients.ts';
import { refuseBuiltIn } from '../../clients/command-line.ts';
import { RotateSecretRequest } from '../../clients/schema.ts';
import type { Client } from '../../clients/store.ts';
import {
  doneNotice,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  selectField,
  textArea,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { conflict, Failure } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { toOAuthError } from '../../platform/http/errors.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { validate } from '../../platform/validation/validate.ts';
import { keptField, takeDraft } from '../../web/sign-in/draft.ts';
import { requireFreshProof } from '../fresh-proof.ts';
import { consolePage } from '../layout.ts';
import { StalePage, versionOfShown } from '../seen.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { addedUri } from './added-uri.ts';
import { appAddress } from './addresses.ts';
import { appSettings } from './page.ts';
import { linesOf } from './rules/kinds.ts';

type Given = Pick<RepeatableParameters, 'get'>;
type Texts = Messages['operators']['apps'];

/** What an act did. */
interface Done {
  readonly client: Client;
  /** Shown once. */
  readonly secret?: string;
}

/** An act on an app. */
interface AppAct {
  readonly isDangerous: boolean;
  /** Another object that it is about. */
  readonly names?: 'secret';
  readonly title: (text: Texts, name: HtmlPart) => HtmlPart;
  readonly lead: (text: Texts) => string;
  readonly submit: (text: Texts) => string;
  /** The fields of its page, and what they show beside what was typed. */
  readonly fields?: (site: Site, client: Client, given: Given, problems: Problems) => Html;
  readonly done: (text: Texts, name: HtmlPart) => { readonly title: HtmlPart; readonly now: string };
  run(visit: ConsoleVisit, clientId: string, given: Given): Promise<Done>;
}

const setStatus =
  (status: 'active' | 'disabled'): AppAct['run'] =>
  async ({ services, origin }, clientId) =>
    updateClient(services, clientId, { status }, origin);

/** The names of the acts, each the last part of its address. */
export const appActNames = ['redirect-uris', 'rotate-secret', 'end-secret', 'disable', 'enable'] as const;
export type AppActName = (typeof appActNames)[number];

const ACTS: Readonly<Record<AppActName, AppAct>> = {
  'redirect-uris': {
    isDangerous: false,
    title: (text, name) => text.urisTitle(name),
    lead: (text) => `${text.urisLead} ${text.urisConsent}`,
    submit: (text) => text.urisSubmit,
    fields: redirectUriFields,
    done: (text) => ({ title: text.urisDone, now: text.urisNow }),
    run: ({ services, origin }, clientId, given) =>
      updateClient(
        services,
        clientId,
        (client) => {
          if (given.get('seen') !== versionOf(client)) throw new StalePage('app');
          return { redirectUris: linesOf(given.get('uris') ?? '') };
        },
        origin,
      ),
  },
  'rotate-secret': {
    isDangerous: false,
    title: (text, name) => text.rotateTitle(name),
    lead: (text) => text.rotateLead,
    submit: (text) => text.rotateSubmit,
    fields: ({ messages }, _client, given, problems) => {
      const { apps: text } = messages.operators;
      const options = Object.entries(text.overlaps);
      return selectField({
        name: 'overlap',
        label: text.overlap,
        value: given.get('overlap') ?? '86400',
        problems,
        options,
      });
    },
    done: (text) => ({ title: text.rotated, now: text.created }),
    async run({ services, origin }, clientId, given) {
      const input = validate(RotateSecretRequest, { expirePreviousIn: Number(given.get('overlap') ?? '86400') });
      const { clientSecret } = await rotateSecret(services, clientId, input, origin);
      return { ...(await getClient(services, clientId)), secret: clientSecret };
    },
  },
  'end-secret': {
    isDangerous: true,
    names: 'secret',
    title: (text, name) => text.endTitle(name),
    lead: (text) => text.endLead,
    submit: (text) => text.endSubmit,
    done: (text) => ({ title: text.ended, now: text.endedNow }),
    async run({ services, origin }, clientId, given) {
      const secret = given.get('secret') ?? '';
      if (!isSnowflake(secret)) throw conflict('There is no such secret: it may have ended before.');
      await endSecret(services, clientId, secret, origin);
      return getClient(services, clientId);
    },
  },
  disable: {
    isDangerous: true,
    title: (text, name) => text.disableTitle(name),
    lead: (text) => text.disableLead,
    submit: (text) => text.disableSubmit,
    done: (text, name) => ({ title: text.disabledDone(name), now: text.disabledNow }),
    run: setStatus('disabled'),
  },
  enable: {
    isDangerous: false,
    title: (text, name) => text.enableTitle(name),
    lead: (text) => text.enableLead,
    submit: (text) => text.enableSubmit,
    done: (text, name) => ({ title: text.enabledDone(name), now: text.enabledNow }),
    run: setStatus('active'),
  },
};

/** The version that a page shows. */
const versionOf = ({ redirectUris }: Client): string => versionOfShown(redirectUris);

/** The addresses to change: as they are stored, with one from a refused request perhaps, or as they were typed. */
function redirectUriFields({ messages }: Site, client: Client, given: Given, problems: Problems): Html {
  const { apps: text } = messages.operators;
  const added = given.get('add');
  const stored = [...client.redirectUris, ...(added === undefined ? [] : [added])];
  const value = given.get('uris') ?? [...new Set(stored)].join('\n');
  return html`${added !== undefined && given.get('uris') === undefined && html`<p>${text.urisAdded(isolate(added))}</p>`}${hiddenSeen(client, given)}
${textArea({ name: 'uris', label: text.urisLabel, hint: text.urisHint, rows: 5, value, problems })}`;
}

/** The version that the operator has seen, also where the form waited for a proof. */
const hiddenSeen = (client: Client, given: Given): Html =>
  html`<input type="hidden" name="seen" value="${given.get('seen') ?? versionOf(client)}">`;

/** The acts on apps, each with a page that says what will happen, and an answer that says what holds now. */
export function appActRoutes(app: FastifyInstance, services: ConsoleServices): void {
  for (const name of appActNames) actRoute(app, services, name);
}

const refuseForBuiltIn = async (request: FastifyRequest): Promise<void> =>
  refuseBuiltIn(consoleVisitOf(request).named.clientId);

function actRoute(app: FastifyInstance, services: ConsoleServices, name: AppActName): void {
  const { site, issuer } = services;
  const act = ACTS[name];
  const address = `/console/apps/${name}`;
  const config = { permission: 'apps.manage', objects: { app: ['clientId'] }, acts: true } as const;
  const preHandler = [refuseForBuiltIn, requireFreshProof(services)];

  app.get(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const given = queryOf(request);
    const { client } = await getClient(visit.services, visit.named.clientId ?? '');
    const draft = takeDraft(services, request, reply, visit.account.id);
    const added = addedUri(visit, client.id, given);
    // A link fills in no other field: it says what is acted on.
    const linked = (of: string) => (of === act.names ? given.get(of) : undefined);
    const get = (of: string) => draft?.[of] ?? (of === 'add' ? added : linked(of));
    return ask(reply, 200, visit, client, { get }, NO_PROBLEMS);
  });

  app.post(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const { clientId = '' } = visit.named;
    try {
      const done = await act.run(visit, clientId, form);
      return sendPage(reply, 200, site, donePage(site, visit, act, done, issuer));
    } catch (error) {
      if (!(error instanceof Failure) || !['conflict', 'invalid'].includes(error.kind)) throw error;
      // By the operator’s own rights: some problems are found before any other unit of work has asked for them.
      const { client } = await getClient(visit.services, clientId);
      const { status } = toOAuthError(error, request);
      // Both versions are shown now.
      const isTold = error instanceof StalePage;
      const given = { get: (of: string) => (isTold && of === 'seen' ? undefined : form.get(of)) };
      return ask(reply, status, visit, client, given, generalProblem(problemText(site, client, error)));
    }
  });

  function ask(
    reply: FastifyReply,
    status: number,
    visit: ConsoleVisit,
    client: Client,
    given: Given,
    problems: Problems,
  ): FastifyReply {
    const { apps: text, cancel } = site.messages.operators;
    const about = { app: client.id, ...(act.names !== undefined && { [act.names]: given.get(act.names) ?? '' }) };
    const title = act.title(text, isolate(client.name));
    const content = html`<header><h1>${title}</h1></header>
${problemSummary(site.messages, problems)}
<section class="card"><p>${act.lead(text)}</p>
<form method="post" action="${site.path(address)}" novalidate>${hidden(visit.token, { ...about, ...keptField(visit.browser, visit, address) })}
${act.fields?.(site, client, given, problems)}
<div class="actions"><button class="${act.isDangerous ? 'danger' : 'primary'}" type="submit">${act.submit(text)}</button><a href="${site.path(appAddress(client.id))}">${cancel}</a></div></form></section>`;
    const page = consolePage(site, visit, { section: 'apps', title, content, problems });
    return sendPage(reply, status, site, page);
  }
}

/** Where somebody changed the app meanwhile, both versions are shown: what is stored here, and what was typed in the form. */
function problemText({ messages }: Site, client: Client, error: Failure): HtmlPart {
  if (!(error instanceof StalePage)) return error.message;
  const { apps: text } = messages.operators;
  return html`${text.stale} ${client.redirectUris.map((uri) => html`<br><code>${uri}</code>`)}`;
}

function donePage(site: Site, visit: ConsoleVisit, act: AppAct, { client, secret }: Done, issuer: string): Page {
  const { apps: text, back } = site.messages.operators;
  const name = isolate(client.name);
  const { title, now } = act.done(text, name);
  const content = html`<header><h1>${title}</h1></header>
${doneNotice(html`<p>${now}</p>`)}
${secret !== undefined && appSettings(site, client, issuer, secret)}
<p><a class="button" href="${site.path(appAddress(client.id))}"><span>${back(name)}</span></a></p>`;
  return consolePage(site, visit, { section: 'apps', title, content });
}
