import type { FastifyInstance } from 'fastify';
import { readOwnMemberships } from '../../../account-actions/organizations/own-memberships.ts';
import {
  doneNotice,
  fact,
  facts,
  isolate,
  moment,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../../pages/components.ts';
import { type HtmlPart, html } from '../../../pages/html.ts';
import { sendPage } from '../../../pages/layout.ts';
import { emailValue } from '../../../pages/person.ts';
import { queryOf } from '../../../platform/http/parameters.ts';
import { redirect } from '../../../platform/http/server.ts';
import { takeDraft } from '../../sign-in/draft.ts';
import { type Said, takeSaid } from '../../sign-in/said.ts';
import { accountLayout } from '../layout.ts';
import { DECLINE_PASSKEY, offersPasskey, passkeyOffer } from '../passkey-offer.ts';
import { readProof } from '../proof.ts';
import { accountRow, accountRows } from '../rows.ts';
import { profileFields } from '../rules/profile-form.ts';
import { type AccountHooks, type AccountVisit, frameOf, visitOf } from '../visit.ts';
import { appearanceSection, detailsSection, linksSection, nameSection, phoneSection } from './fields.ts';
import { GROUPS_SHOWN, ORGANIZATION_PAGE } from './organization.ts';
import { pictureSection } from './picture.ts';
import type { ProfileSection, ProfileServices, ProfileState, ShowProfile } from './section.ts';
import { usernameSection } from './username.ts';

const emailSection: ProfileSection = {
  name: 'email-address',
  row: ({ site: { messages, path } }, { account }) => ({
    title: messages.person.email,
    state: emailValue(account.profile, messages),
    page: path('/account/email'),
  }),
};

const organizationSection: ProfileSection = {
  name: 'organization',
  async row(services, { account }) {
    const { messages, path } = services.site;
    const { organization: text, person } = messages;
    const page = path(ORGANIZATION_PAGE);
    const { organization, groups } = await readOwnMemberships(services, account.id, GROUPS_SHOWN);
    if (organization === undefined) {
      return { title: text.title, state: groups.length === 0 ? text.none : text.groupsOnly(groups.length), page };
    }
    const { name, role } = organization;
    const state = text.state(isolate(name), role === null ? undefined : person.roles[role]);
    return { title: text.title, state, page };
  },
};

const idSection: ProfileSection = {
  name: 'account-id',
  row({ site: { messages } }, { account: { id, createdAt } }) {
    const { person, profile } = messages;
    const content = html`<p class="muted small">${profile.idLead}</p>${facts([fact(person.since, moment(createdAt))])}`;
    return { title: person.id, state: html`<span class="figures">${id}</span>`, content };
  },
};

/** The rows of the page, in their order: what every app sees, and what a person allows. */
const SECTIONS = {
  always: [pictureSection, nameSection, usernameSection, emailSection, appearanceSection, idSection],
  ifAllowed: [phoneSection, detailsSection, linksSection, organizationSection],
} as const;

/** The main page of an account: who the person is. */
export function profileRoutes(app: FastifyInstance, services: ProfileServices, hooks: AccountHooks): void {
  const { site, browsers } = services;
  const { messages } = site;
  const { profile: text } = messages;

  /** @param open the row that was asked for, or whose form was sent */
  async function show(
    open: string | undefined,
    offered: Awaited<ReturnType<typeof offersPasskey>>,
    ...[reply, status, visit, { problems = NO_PROBLEMS, done, typed = {} }]: Parameters<ShowProfile>
  ) {
    const fields = new Map([...profileFields(visit.account.profile), ...Object.entries(typed)]);
    const state: ProfileState = { ...frameOf(visit), proof: await readProof(services, visit), problems, fields };
    const isOpen = ({ name, fields }: ProfileSection) =>
      name === open || opensFor(fields, problems) || Object.keys(typed).some((field) => fields?.test(field));
    const rowsOf = async (sections: readonly ProfileSection[]) =>
      accountRows(
        await Promise.all(
          sections.map(async (section) =>
            accountRow(section.name, await section.row(services, state), isOpen(section)),
          ),
        ),
      );
    const content = html`<header><h1>${text.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${offered && passkeyOffer(site, state.token, offered)}
<p class="muted small">${text.always}</p>
${await rowsOf(SECTIONS.always)}
<p class="muted small">${text.ifAllowed}</p>
${await rowsOf(SECTIONS.ifAllowed)}`;
    const page = accountLayout(site, state, 'profile', text.title, content, problems);
    return sendPage(reply, status, site, {
      ...page,
      scripts: ['picture', ...(offered ? (['passkeys'] as const) : [])],
    });
  }

  /** What is said to a person who is back, and to a new one what they are a member of. */
  async function saidText({ account }: AccountVisit, said: Said | undefined): Promise<HtmlPart> {
    if (said === undefined) return undefined;
    const text = messages.account.said[said];
    const { organization } = said === 'created' ? await readOwnMemberships(services, account.id, 1) : {};
    return organization === undefined ? text : [text, ' ', messages.account.memberNow(isolate(organization.name))];
  }

  app.get('/account', async (request, reply) => {
    const visit = visitOf(request);
    const typed = takeDraft(services, request, reply, visit.account.id);
    const said = takeSaid(browsers, request, reply, messages);
    const done = typed === undefined ? await saidText(visit, said) : messages.account.draftBack;
    const result = { ...(done !== undefined && { done }), ...(typed !== undefined && { typed }) };
    return show(queryOf(request).get('row'), await offersPasskey(services, visit), reply, 200, visit, result);
  });

  app.post(DECLINE_PASSKEY, { preHandler: hooks.countForm }, async (request, reply) => {
    browsers.setDeclinedPasskey(reply);
    return redirect(request, reply, site.path('/account'));
  });

  for (const { name, routes } of [...SECTIONS.always, ...SECTIONS.ifAllowed] as readonly ProfileSection[]) {
    // What is saved is said above the rows, and its state in its row, closed again.
    routes?.(app, services, hooks, (...answer) =>
      show(answer[3].problems?.general.length ? name : undefined, undefined, ...answer),
    );
  }
}

const opensFor = (own: RegExp | undefined, { fields }: Problems): boolean =>
  own !== undefined && Object.keys(fields).some((field) => own.test(field));
