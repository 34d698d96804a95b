import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { connectionsOf, revokeAccess, revokedAccess } from '../../consent/connections.ts';
import { endSessions } from '../../credentials/ending.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { isSid, listSessions } from '../../sessions/list.ts';
import type { SessionSelector } from '../../sessions/store.ts';
import { generalProblem, NO_PROBLEMS, readPart } from '../kit/components.ts';
import { sendPage } from '../kit/layout.ts';
import type { SessionParts } from '../sign-in/routes.ts';
import { type ConnectionsPage, connectionsPage } from './connections-page.ts';
import { type SessionsPage, sessionsPage } from './sessions-page.ts';
import { type AccountVisit, frameOf, originAt, visits } from './visit.ts';

/** As many on a page as keep it light, with the longest names. */
const ON_A_PAGE = 12;

/** Who and what has access to an account: the apps, and the browsers in which its person is signed in. */
export function accessRoutes(app: FastifyInstance, parts: SessionParts): void {
  const { site } = parts;
  const { visit, submitted, actingIn } = visits(parts);
  const outOfDate = generalProblem(site.messages.account.formExpired);
  const queryOf = (request: FastifyRequest) => request.query as RepeatableParameters;

  /** A part of a list; one that is empty by now gives way to the first. */
  async function partOf<T>(from: RepeatableParameters, read: (at: { skip: number; limit: number }) => Promise<T[]>) {
    const partAt = async (number: number) => {
      const found = await read({ skip: (number - 1) * ON_A_PAGE, limit: ON_A_PAGE + 1 });
      return { items: found.slice(0, ON_A_PAGE), part: { number, more: found.length > ON_A_PAGE } };
    };
    const asked = await partAt(readPart(from.get('page')));
    return asked.items.length > 0 || asked.part.number === 1 ? asked : partAt(1);
  }

  async function showConnections(
    at: AccountVisit,
    status: number,
    from: RepeatableParameters,
    what: Pick<ConnectionsPage, 'ended' | 'problems'>,
  ): Promise<FastifyReply> {
    const { items, part } = await partOf(from, (piece) => connectionsOf(parts, at.account.id, piece));
    return sendPage(
      at.reply,
      status,
      site,
      connectionsPage(site, { ...frameOf(at), connections: items, part, ...what }),
    );
  }

  app.get('/account/connections', async (request, reply) => {
    const at = await visit(request, reply);
    return showConnections(at, 200, queryOf(request), { ended: undefined, problems: NO_PROBLEMS });
  });

  app.post('/account/connections', async (request, reply) => {
    const { at, form, fits } = await submitted(request, reply);
    const clientId = form.get('client_id') ?? '';
    if (!fits || !isSnowflake(clientId)) {
      return showConnections(at, 400, form, { ended: undefined, problems: outOfDate });
    }
    await revokeAccess(actingIn(at), at.account.id, clientId, originAt(at));
    // A second press finds it done already, and says the same.
    const ended = await revokedAccess(parts, at.account.id, clientId);
    return showConnections(at, 200, form, { ended, problems: NO_PROBLEMS });
  });

  async function showSessions(
    at: AccountVisit,
    status: number,
    from: RepeatableParameters,
    what: Pick<SessionsPage, 'ended' | 'problems'>,
  ): Promise<FastifyReply> {
    const { session, account } = at;
    const { items, part } = await partOf(from, (piece) =>
      listSessions(parts, account, { ...piece, except: session.sid }),
    );
    const page = sessionsPage(site, { ...frameOf(at), current: session, others: items, part, ...what });
    return sendPage(at.reply, status, site, page);
  }

  app.get('/account/sessions', async (request, reply) => {
    const at = await visit(request, reply);
    return showSessions(at, 200, queryOf(request), { ended: undefined, problems: NO_PROBLEMS });
  });

  /** SessionSelector sessions a form is to end: one that it names, or all but that of this browser. */
  function meant(form: RepeatableParameters, at: AccountVisit): SessionSelector | undefined {
    const sid = form.get('session') ?? '';
    if (sid === 'others') return { except: at.session.sid };
    return isSid(sid) && sid !== at.session.sid ? { sid } : undefined;
  }

  app.post('/account/sessions', async (request, reply) => {
    const { at, form, fits } = await submitted(request, reply);
    const which = meant(form, at);
    if (!fits || which === undefined) return showSessions(at, 400, form, { ended: undefined, problems: outOfDate });
    const ended = await endSessions(actingIn(at), at.account, which, originAt(at));
    return showSessions(at, 200, form, { ended: { ...ended, all: 'except' in which }, problems: NO_PROBLEMS });
  });
}
