import { openCodeOwner } from '../../credentials/code-store.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { readVisitor } from '../../sessions/sessions.ts';
import type { AuthorizationServices, FinishedRequest } from './authorization.ts';
import { DENIALS } from './denial.ts';
import { codeOf } from './issue-code.ts';
import { type ClientResponse, errorResponse, successResponse } from './rules/request.ts';

/**
 * The response of a request that was answered before, for a second submission of its form. A code that was redeemed or has expired
 * is not sent again, for its second use would revoke the tokens of the first.
 */
export async function finishedResponse(
  services: AuthorizationServices,
  { request, handle, outcome, sessions }: FinishedRequest,
): Promise<ClientResponse | undefined> {
  if (outcome !== 'code') return errorResponse(request, DENIALS[outcome], services.issuer);
  // The same for everybody: the device gets its tokens without the browser.
  if (request.device !== undefined) return successResponse(request, '', services.issuer);
  const code = codeOf(services, handle);
  const now = services.clock();
  const isOwn = await services.database.read(function* read(): Work<boolean> {
    const owner = yield* openCodeOwner({ hash: digest(code), now });
    if (owner === undefined) return false;
    // After another person has signed in in this browser, the code is not sent.
    const visitor = yield* readVisitor(sessions.current, now);
    return visitor.kind === 'anonymous' || visitor.account.id === owner;
  });
  return isOwn ? successResponse(request, code, services.issuer) : undefined;
}
