import {
  banAccount,
  deleteAccount,
  reinstateAccount,
  suspendAccount,
  unbanAccount,
} from '../account-actions/accounts/accounts.ts';
import { barMaker } from '../account-actions/makers/bar.ts';
import { cancelDeletion, scheduleDeletion } from '../account-actions/personal-data/deletion.ts';
import type { Account } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import type { Clock } from '../platform/clock.ts';
import type { AdminApp } from './admin-app.ts';
import { type AdminCaller, type CallerServices, callerOf } from './guard.ts';
import { takenView } from './operator-routes.ts';
import * as users from './route-schemas/users.ts';

/** Whether an account may be used, and its end. */
export function standingRoutes(admin: AdminApp, clock: Clock): void {
  const view = (account: Account) => accountView(account, clock());
  /** Bars or deletes a person. What they made as an operator is told to those who may end it. */
  async function barred<T>(
    { services, origin }: AdminCaller,
    id: string,
    query: { readonly endMade?: string },
    act: (services: CallerServices) => Promise<T>,
  ) {
    const endMade = query.endMade === 'true';
    const { result, made } = await barMaker(services, id, origin, { endMade }, (database) =>
      act({ ...services, database }),
    );
    return { result, told: made && takenView(made, endMade, clock()) };
  }

  admin.delete('/users/:id', { schema: users.deleteUserSchema }, async (request, reply) => {
    const caller = callerOf(request);
    const { id } = request.params;
    const { told } = await barred(caller, id, request.query, (services) => deleteAccount(services, id, caller.origin));
    return told === undefined ? reply.code(204).send() : reply.send(told);
  });
  admin.put('/users/:id/ban', { schema: users.banUserSchema }, async (request) => {
    const caller = callerOf(request);
    const { id } = request.params;
    const { result, told } = await barred(caller, id, request.query, (services) =>
      banAccount(services, id, request.body, caller.origin),
    );
    return { ...view(result), ...told };
  });
  admin.delete('/users/:id/ban', { schema: users.unbanUserSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return view(await unbanAccount(services, request.params.id, origin));
  });
  admin.put('/users/:id/suspension', { schema: users.suspendUserSchema }, async (request) => {
    const caller = callerOf(request);
    const { id } = request.params;
    const { result, told } = await barred(caller, id, request.query, (services) =>
      suspendAccount(services, id, request.body, caller.origin),
    );
    return { ...view(result), ...told };
  });
  admin.delete('/users/:id/suspension', { schema: users.reinstateUserSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return view(await reinstateAccount(services, request.params.id, origin));
  });
  admin.put('/users/:id/deletion', { schema: users.scheduleDeletionSchema }, async (request) => {
    const caller = callerOf(request);
    const { id } = request.params;
    const { result, told } = await barred(caller, id, request.query, (services) =>
      scheduleDeletion(services, id, request.body, caller.origin),
    );
    return { ...view(result), ...told };
  });
  admin.delete('/users/:id/deletion', { schema: users.cancelDeletionSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return view(await cancelDeletion(services, request.params.id, origin));
  });
}
