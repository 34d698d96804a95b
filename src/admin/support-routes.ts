import { openAccount } from '../account-actions/accounts/accounts.ts';
import {
  factorView,
  personalFactors,
  remindToVerify,
  removeLostFactor,
  sendRecovery,
  unlockAccount,
} from '../account-actions/support/help.ts';
import { findLastSignIns, lastSignInsView } from '../audit/last-sign-ins.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import * as support from './route-schemas/support.ts';

/** What the help desk does for a person who cannot get in. */
export function supportRoutes(admin: AdminApp): void {
  admin.post('/users/:id/recovery', { schema: support.sendRecoverySchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await sendRecovery(services, request.params.id, origin);
    return reply.code(204).send();
  });

  admin.get('/users/:id/factors', { schema: support.listFactorsSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const account = await openAccount(services, request.params.id, 'factors', origin);
    const factors = await services.database.read(() => personalFactors(account));
    return { items: factors.map(factorView), nextCursor: null };
  });

  admin.get('/users/:id/last-sign-ins', { schema: support.readLastSignInsSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id } = await openAccount(services, request.params.id, 'sign_ins', origin);
    return lastSignInsView(await services.database.read(() => findLastSignIns(id)));
  });

  admin.delete('/users/:id/factors/:factorId', { schema: support.removeFactorSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id, factorId } = request.params;
    return { removed: await removeLostFactor(services, id, factorId, origin) };
  });

  admin.post('/users/:id/email-verification', { schema: support.remindVerificationSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return { sent: await remindToVerify(services, request.params.id, origin) };
  });

  admin.post('/users/:id/unlock', { schema: support.unlockUserSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await unlockAccount(services, request.params.id, origin);
    return reply.code(204).send();
  });
}
