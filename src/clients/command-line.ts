import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { conflict } from '../platform/failure.ts';
import { initialValues } from '../platform/validation/fields.ts';
import { SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import { REGISTERED_BY_OPERATOR } from './clients.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { COMMAND_LINE_ID } from './rules/command-line.ts';
import { DEVICE_GRANT } from './rules/registration.ts';
import { findClient, insertClient } from './store.ts';

/** Registers the command line, unless it is: when it first asks. */
export async function registerCommandLine({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): Promise<void> {
  if ((await database.read(() => findClient({ id: COMMAND_LINE_ID }))) !== undefined) return;
  const now = clock();
  await database.commit(function* register(): Work<void> {
    // Another process may have been first.
    if ((yield* findClient({ id: COMMAND_LINE_ID })) !== undefined) return;
    const fields = {
      name: 'Tessera command line',
      type: 'public',
      grantTypes: [DEVICE_GRANT],
      scopes: ['openid'],
      endpoints: ['oidc'],
      // A fresh sign-in with a second factor, each time.
      requireSecondFactor: true,
      defaultMaxAge: 0,
    } as const;
    yield* insertClient({
      id: COMMAND_LINE_ID,
      ...initialValues(CLIENT_FIELDS, fields),
      ...REGISTERED_BY_OPERATOR,
      picture: null,
      organizationId: null,
      developerId: null,
      consentApproval: null,
      resourceMark: null,
      leftOut: null,
      status: 'active',
      generation: randomIdentifier(),
      consentEpoch: randomIdentifier(),
      createdAt: now,
      updatedAt: now,
    });
    yield* record({ at: now, type: 'client.created', origin: SYSTEM_ORIGIN, clientId: COMMAND_LINE_ID });
  });
}

/** @throws {Failure} `conflict` for an app that is part of Tessera */
export function refuseBuiltIn(clientId: unknown): void {
  if (clientId !== COMMAND_LINE_ID) return;
  throw conflict(
    'The command line is a part of Tessera and cannot be changed. TESSERA_COMMAND_LINE_SIGN_IN=off switches signing in with it off.',
  );
}
