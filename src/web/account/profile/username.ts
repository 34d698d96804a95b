import type { FastifyInstance } from 'fastify';
import { FieldTaken } from '../../../account-actions/accounts/accounts.ts';
import { updateAccount } from '../../../account-actions/addresses/update-account.ts';
import { PROFILE_FIELDS } from '../../../accounts/fields.ts';
import { take } from '../../../limits/limits.ts';
import { field, fieldProblem, formatMoment, hidden } from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { schemasOf } from '../../../platform/validation/fields.ts';
import { trimTyped } from '../../../platform/validation/typed-text.ts';
import { findProblem } from '../../../platform/validation/validate.ts';
import { proofGate, requireProof } from '../proof.ts';
import { type AccountHooks, servicesIn, visitOf } from '../visit.ts';
import type { ProfileSection, ProfileServices, ShowProfile } from './section.ts';

const ADDRESS = '/account/username';

const { username: usernameSchema } = schemasOf(PROFILE_FIELDS, 'schema');

/** The username, which asks for a fresh proof: people sign in with it. */
export const usernameSection: ProfileSection = {
  name: 'change-username',
  fields: /^username$/,
  row({ site }, { account, token, keptFor, proof, problems, fields }) {
    const { messages, path } = site;
    const text = messages.username;
    const { username } = account.profile;
    const value = fields.get('username') ?? username;
    const form = html`<form method="post" action="${path(ADDRESS)}" novalidate>${hidden(token, keptFor(ADDRESS))}
${field({ name: 'username', label: text.label, type: 'text', autocomplete: 'username', value, hint: messages.signUp.usernameHint, problems })}
<div><button class="primary" type="submit">${text.submit}</button></div></form>`;
    const content = html`<p class="muted small">${text.lead}</p>
${proofGate(site, proof, 'username', form)}`;
    return { title: messages.person.username, state: username, content };
  },
  routes,
};

function routes(app: FastifyInstance, services: ProfileServices, _hooks: AccountHooks, show: ShowProfile): void {
  const { site, database, clock, limits } = services;
  const { messages } = site;
  const text = messages.username;

  // Changes are counted; a name that is refused costs no more than the page.
  app.post(ADDRESS, { preHandler: requireProof(services, 'username') }, async (request, reply) => {
    const visit = visitOf(request);
    // Phones capitalize the first letter; usernames are lower case.
    const username = trimTyped(formOf(request).get('username')).toLowerCase();
    const reject = (status: number, problem: string) =>
      show(reply, status, visit, { problems: fieldProblem('username', problem), typed: { username } });
    if (findProblem(usernameSchema, username) !== undefined) return reject(400, messages.signUp.usernameBad);
    const { id, profile } = visit.account;
    if (username === profile.username) return reject(400, text.same);
    const about = { name: 'usernameAccount', origin: visit.origin, accountId: id } as const;
    const wait = await database.commit(() => take(`username ${id}`, limits.usernameAccount, clock(), about));
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return reject(429, text.limited(wait));
    }
    try {
      const account = await updateAccount(
        { ...servicesIn(services, visit), operator: undefined },
        id,
        { username },
        visit.origin,
      );
      return await show(reply, 200, { ...visit, account }, { done: text.changed(username) });
    } catch (error) {
      if (!(error instanceof FieldTaken)) throw error;
      const { heldUntil } = error;
      return reject(409, heldUntil === undefined ? messages.signUp.usernameTaken : text.held(formatMoment(heldUntil)));
    }
  });
}
