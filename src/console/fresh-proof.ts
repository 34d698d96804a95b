import type { FastifyReply, FastifyRequest } from 'fastify';
import { redirect } from '../platform/http/server.ts';
import { readProof } from '../web/account/proof.ts';
import { keepDraft } from '../web/sign-in/draft.ts';
import { CONFIRM } from './factor.ts';
import { type ConsoleServices, consoleVisitOf } from './visit.ts';

/** A hook for the pages and forms of what is dangerous: the operator proves who they are, and comes back. */
export const requireFreshProof =
  (services: ConsoleServices) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { needed } = await readProof(services, consoleVisitOf(request));
    if (!needed) return undefined;
    keepDraft(services, request, reply);
    return redirect(request, reply, services.site.path(CONFIRM));
  };
