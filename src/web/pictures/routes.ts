import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findAccount } from '../../accounts/store.ts';
import { avatarPath } from '../../claims/rules/userinfo.ts';
import { findClient } from '../../clients/store.ts';
import { html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { pictureType } from '../../pictures/pictures.ts';
import { initials } from '../../pictures/rules/initials.ts';
import { readPicture } from '../../pictures/store.ts';
import { type Clock, MINUTE, SECOND } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { notFound } from '../../platform/failure.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { accountStatus } from '../../verdict/rules.ts';

interface PictureRouteOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly site: Site;
}
interface PictureParams {
  readonly Params: { readonly id: string; readonly name: string };
}

/** How long a browser may show a picture without asking again: a removed picture, or that of a person who was banned, can be seen for that long. */
const MAX_AGE = MINUTE;

/** The pictures of users and apps. Anyone who has the address of one may see it, as on any page that shows it. */
export function pictureRoutes(app: FastifyInstance, { database, clock, site }: PictureRouteOptions): void {
  /** The initials of a user on the color of the account. */
  app.get<{ Params: { file: string } }>('/avatars/:file', async (request, reply) => {
    const id = /^(\d+)\.svg$/.exec(request.params.file)?.[1] ?? '';
    const account = isSnowflake(id) ? await database.read(() => findAccount({ id })) : undefined;
    if (account === undefined) throw noPicture();
    const { displayName, avatarColor } = account.profile;
    const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96"><rect width="96" height="96" fill="${avatarColor}"/><text x="48" y="48" dy="0.36em" text-anchor="middle" font-family="system-ui, sans-serif" font-size="38" font-weight="600" fill="#fff">${initials(displayName)}</text></svg>`;
    return embeddable(reply).type('image/svg+xml').send(svg.text);
  });

  /** An uploaded picture. When it is no longer shown, its address redirects to the initials: apps may keep it for years. */
  app.get<PictureParams>('/avatars/:id/:name', async (request, reply) => {
    const { id, name } = request.params;
    const found = await database.read(function* read(): Work<'no account' | Uint8Array | undefined> {
      const account = isSnowflake(id) ? yield* findAccount({ id }) : undefined;
      if (account === undefined) return 'no account';
      // The picture of a banned or suspended account is not shown.
      const shown =
        account.profile.picture === name &&
        account.deletionDueAt === null &&
        accountStatus(account, clock()) === 'active';
      return shown ? yield* readPicture({ name }) : undefined;
    });
    if (found === 'no account') throw noPicture();
    if (found === undefined) return embeddable(reply).redirect(site.path(`/avatars${avatarPath(id, null)}`), 302);
    return sendPicture(request, reply, name, found);
  });

  app.get<PictureParams>('/app-pictures/:id/:name', async (request, reply) => {
    const { id, name } = request.params;
    const found = await database.read(function* read(): Work<Uint8Array | undefined> {
      const client = isSnowflake(id) ? yield* findClient({ id }) : undefined;
      return client?.picture === name ? yield* readPicture({ name }) : undefined;
    });
    if (found === undefined) throw noPicture();
    return sendPicture(request, reply, name, found);
  });
}

const noPicture = () => notFound('There is no picture at this address.');

/** Apps show pictures on their own pages; a picture that is opened by itself must not run anything. */
const embeddable = (reply: FastifyReply): FastifyReply =>
  reply
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .header('cross-origin-resource-policy', 'cross-origin')
    .header('cache-control', `public, max-age=${MAX_AGE / SECOND}`);

/** The picture of a name never changes, so the name serves as its entity tag. */
function sendPicture(request: FastifyRequest, reply: FastifyReply, name: string, bytes: Uint8Array): FastifyReply {
  const tag = `"${name}"`;
  embeddable(reply).header('etag', tag);
  if (request.headers['if-none-match'] === tag) return reply.code(304).send();
  return reply.type(pictureType(name)).send(bytes);
}
