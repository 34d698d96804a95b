import type { FastifyInstance, FastifyReply } from 'fastify';
import { createClient } from '../../clients/clients.ts';
import { CreateClientRequest } from '../../clients/schema.ts';
import { developerIn, holds, INSTALLATION, organizationsOf } from '../../operators/rights.ts';
import { findOrganization, type Organization } from '../../organizations/store.ts';
import {
  doneNotice,
  field,
  fieldProblem,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  selectField,
  textArea,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Work } from '../../platform/database/database.ts';
import { Failure } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { toOAuthError } from '../../platform/http/errors.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { validate } from '../../platform/validation/validate.ts';
import { keptField, takeDraft } from '../../web/sign-in/draft.ts';
import { requireFreshProof } from '../fresh-proof.ts';
import { consolePage } from '../layout.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { appAddress } from './addresses.ts';
import { appSettings } from './page.ts';
import { APP_KINDS, type AppKind, isAppKind, linesOf, registrationOf } from './rules/kinds.ts';

type Given = Pick<RepeatableParameters, 'get'>;

const ADDRESS = '/console/apps/new';

/** Registers an app by its kind, which decides on everything that is not asked. */
export function createAppRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, issuer } = services;
  const { apps: text, cancel } = site.messages.operators;
  const config = { permission: 'apps.create', objects: { inOrganizationOfBody: true }, acts: true } as const;
  const preHandler = requireFreshProof(services);

  async function show(reply: FastifyReply, status: number, visit: ConsoleVisit, given: Given, problems: Problems) {
    const { own, place } = placeChoice(site, await placesOf(visit, text.noOrganization), given, problems);
    const input = (name: 'name' | 'resource', label: string, hint: string, required: boolean) =>
      field({
        ...{ name, label, hint, required, problems, autocomplete: 'off', value: given.get(name) ?? '' },
        type: name === 'resource' ? 'url' : 'text',
      });
    const content = html`<header><h1>${text.create}</h1></header>
${problemSummary(site.messages, problems)}
<section class="card"><form method="post" action="${site.path(ADDRESS)}" novalidate>${hidden(visit.token, { ...keptField(visit.browser, visit, ADDRESS), ...own })}
${place}
${kindChoice(site, given.get('kind') ?? 'web')}
${input('name', text.name, text.nameHint, true)}
${textArea({ name: 'uris', label: text.urisLabel, hint: text.urisHint, rows: 3, value: given.get('uris') ?? '', problems })}
${input('resource', text.resource, text.resourceHint, false)}
<div class="actions"><button class="primary" type="submit">${text.createSubmit}</button><a href="${site.path('/console/apps')}">${cancel}</a></div></form></section>`;
    return sendPage(
      reply,
      status,
      site,
      consolePage(site, visit, { section: 'apps', title: text.create, content, problems }),
    );
  }

  // Where it will be is said by the form.
  const opens = { permission: 'apps.create' } as const;
  app.get(ADDRESS, { config: opens, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const draft = takeDraft(services, request, reply, visit.account.id);
    return show(reply, 200, visit, { get: (name) => draft?.[name] }, NO_PROBLEMS);
  });

  app.post(ADDRESS, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const kind = form.get('kind') ?? '';
    if (!isAppKind(kind)) return show(reply, 400, visit, form, generalProblem(text.kindMissing));
    // The admission has decided on this very value.
    const { organizationId = null } = visit.named;
    try {
      const asked = {
        ...registrationOf(kind, typedIn(form)),
        ...(organizationId !== null && { organizationId }),
      };
      const created = await createClient(visit.services, validate(CreateClientRequest, asked), visit.origin);
      const name = isolate(created.client.name);
      const { clientSecret } = created;
      const content = html`<header><h1>${text.createdTitle(name)}</h1></header>
${doneNotice(html`<p>${clientSecret === undefined ? text.createdPublic : text.created}</p>`)}
${appSettings(site, created.client, issuer, clientSecret)}
<p><a class="button" href="${site.path(appAddress(created.client.id))}">${text.open}</a></p>`;
      return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: text.create, content }));
    } catch (error) {
      if (!(error instanceof Failure) || !['conflict', 'invalid'].includes(error.kind)) throw error;
      return show(reply, toOAuthError(error, request).status, visit, form, problemOf(error, site.messages));
    }
  });
}

const typedIn = (form: Given) => ({
  name: (form.get('name') ?? '').trim(),
  redirectUris: linesOf(form.get('uris') ?? ''),
  resource: (form.get('resource') ?? '').trim(),
});

/** A problem at the field that it is about. */
function problemOf({ message }: Failure, { operators: { apps: text } }: Messages): Problems {
  if (message.startsWith('name')) return fieldProblem('name', text.nameBad);
  if (message.startsWith('redirectUris')) return fieldProblem('uris', message);
  if (message.startsWith('resource')) return fieldProblem('resource', message);
  return generalProblem(message);
}

type AppPlace = Pick<Organization, 'name'> & { readonly id: string };

/** The organizations in which the operator registers apps, unless that is everywhere. */
const organizationsFor = async ({ operator, services }: ConsoleVisit): Promise<readonly AppPlace[]> =>
  holds(operator, 'apps.create', INSTALLATION) && developerIn(operator, null) === null
    ? []
    : services.database.read(function* find(): Work<readonly Organization[]> {
        const found: Organization[] = [];
        for (const id of organizationsOf(operator, 'apps.create')) {
          const organization = yield* findOrganization({ id });
          if (organization !== undefined) found.push(organization);
        }
        return found;
      });

/** Where the operator registers apps, unless that is the installation alone, or everywhere. */
async function placesOf(visit: ConsoleVisit, none: string): Promise<readonly AppPlace[]> {
  const found = await organizationsFor(visit);
  return found.length > 0 && holds(visit.operator, 'apps.create', INSTALLATION)
    ? [...found, { id: '', name: none }]
    : found;
}

/** Where the app will be: a hidden field for one organization, and a choice among several. */
function placeChoice(
  { messages }: Site,
  places: readonly AppPlace[],
  given: Given,
  problems: Problems,
): { readonly own: Readonly<Record<string, string>>; readonly place: Html | undefined } {
  const [first] = places;
  if (first === undefined) return { own: {}, place: undefined };
  if (places.length === 1) return { own: { organization: first.id }, place: undefined };
  const place = selectField({
    ...{ name: 'organization', label: messages.operators.apps.organization, problems },
    value: given.get('organization') ?? first.id,
    options: places.map(({ id, name }) => [id, name]),
  });
  return { own: {}, place };
}

function kindChoice({ messages }: Site, chosen: string): Html {
  const { apps: text } = messages.operators;
  const kinds = Object.keys(APP_KINDS) as AppKind[];
  const choices = kinds.map((kind) => {
    const [name, about] = text.kinds[kind];
    return html`<label class="check"><input type="radio" name="kind" value="${kind}"${kind === chosen && html` checked`}><span><strong>${name}</strong><br><span class="small muted">${about}</span></span></label>`;
  });
  return html`<fieldset class="field" id="kind"><legend>${text.kind}</legend>${choices}</fieldset>`;
}
