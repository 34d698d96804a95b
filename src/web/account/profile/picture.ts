import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setPicture } from '../../../account-actions/accounts/accounts.ts';
import { take } from '../../../limits/limits.ts';
import { confirmStep, fieldProblem, fileField, hidden } from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { Messages } from '../../../pages/messages.ts';
import { picture as pictureOf } from '../../../pages/person.ts';
import { LARGEST_PICTURE, PICTURE_TYPES, type PictureProblem } from '../../../pictures/pictures.ts';
import { acceptUploads, uploadFlows, uploadOf } from '../../../platform/http/uploads.ts';
import { type AccountHooks, type AccountVisit, servicesIn, visitOf } from '../visit.ts';
import type { ProfileSection, ProfileServices, ShowProfile } from './section.ts';

const ADDRESS = '/account/picture';

/** The picture of a person, or their initials. */
export const pictureSection: ProfileSection = {
  name: 'change-picture',
  fields: /^picture$/,
  row({ site }, { account, token, problems }) {
    const { messages, path } = site;
    const { picture: text } = messages;
    const isOwn = account.profile.picture !== null;
    const hint = html`${text.hint} <span class="scripted">${text.hintSmaller}</span> ${text.hintKept}`;
    const form = (content: Html, action: Readonly<Record<string, string>> = {}) =>
      html`<form method="post" action="${path(ADDRESS)}" enctype="multipart/form-data" novalidate>${hidden(token, action)}
${content}</form>`;
    const content = html`${form(html`${fileField({ name: 'picture', label: text.file, hint, accept: PICTURE_TYPES, largest: LARGEST_PICTURE, problems })}
${cropFields(text)}
<div><button class="primary" type="submit">${text.submit}</button></div>`)}
${
  isOwn &&
  confirmStep(
    text.remove,
    form(
      html`<p class="small">${text.removeLead}</p><div><button class="danger" type="submit">${text.removeYes}</button></div>`,
      { action: 'remove' },
    ),
  )
}`;
    return {
      title: text.title,
      state: isOwn ? text.own : text.initials,
      picture: pictureOf(site, account, 44),
      content,
    };
  },
  routes,
};

/** Which square of the picture is used: a script shows it. The fields have no names, so that they are not sent. */
function cropFields(text: Messages['picture']): Html {
  const slider = (id: string, label: string, [least, most, step, value]: readonly [number, number, number, number]) =>
    html`<label for="${id}">${label}</label><input type="range" id="${id}" min="${least}" max="${most}" step="${step}" value="${value}">`;
  return html`<fieldset class="crop" hidden data-crop="picture"><legend>${text.crop}</legend><canvas width="256" height="256" role="img" aria-label="${text.preview}"></canvas>
${slider('crop-zoom', text.zoom, [1, 4, 0.05, 1])}
${slider('crop-across', text.across, [0, 1, 0.01, 0.5])}
${slider('crop-down', text.down, [0, 1, 0.01, 0.5])}</fieldset>`;
}

function routes(
  app: FastifyInstance,
  services: ProfileServices,
  { requireVisit }: AccountHooks,
  show: ShowProfile,
): void {
  const { site, database, clock, limits, pictures } = services;
  const { picture: text } = site.messages;

  function countUpload({ account: { id }, origin }: AccountVisit): Promise<number> {
    const about = { name: 'pictureAccount', origin, accountId: id } as const;
    return database.commit(() => take(`picture ${id}`, limits.pictureAccount, clock(), about));
  }

  app.register(async (uploads) => {
    acceptUploads(uploads, 'picture', LARGEST_PICTURE);
    const nameUploader = async (request: FastifyRequest): Promise<void> => {
      request.uploader = `account ${visitOf(request).account.id}`;
    };
    // Before the body is read as well, so that only signed-in people make the server hold a file.
    const onRequest = [requireVisit, nameUploader];
    const reject = (reply: FastifyReply, visit: AccountVisit, problem: PictureProblem) =>
      show(reply, problem === 'too large' ? 413 : 400, visit, {
        problems: fieldProblem('picture', text.bad[problem]),
      });
    // Nothing of such a form was kept, not even the token that the hooks look at.
    const preValidation = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
      uploadOf(request).file === 'too large' ? reject(reply, visitOf(request), 'too large') : undefined;
    uploads.post(ADDRESS, { onRequest, preValidation }, async (request, reply) => {
      const visit = visitOf(request);
      const { fields, file } = uploadOf(request);
      const own = servicesIn(services, visit);
      if (fields.get('action') === 'remove') {
        const account = await setPicture(own, visit.account.id, null, visit.origin);
        return show(reply, 200, { ...visit, account }, { done: text.removed });
      }
      const wait = await countUpload(visit);
      if (wait > 0) {
        reply.header('retry-after', String(wait));
        return show(reply, 429, visit, { problems: fieldProblem('picture', text.limited(wait)) });
      }
      if (file === 'too large') return reject(reply, visit, file);
      const made = await pictures.convert(file ?? new Uint8Array(), uploadFlows(request));
      if (typeof made === 'string') return reject(reply, visit, made);
      const account = await setPicture(own, visit.account.id, made, visit.origin);
      return show(reply, 200, { ...visit, account }, { done: text.changed });
    });
  });
}
