import type { Passwords } from '../crypto/passwords.ts';
import type { Database } from '../database/database.ts';
import type { Outgoing } from '../http/outgoing.ts';
import type { MailTransport } from '../mail/transport.ts';
import type { Tracing } from './tracing.ts';

/** Adds spans to the parts of the service that take time. Without telemetry, they are used as they are. */
export interface Traced {
  database(database: Database): Database;
  passwords(passwords: Passwords): Passwords;
  outgoing(send: Outgoing): Outgoing;
  mail(transport: MailTransport): MailTransport;
}

type Steps = Pick<Tracing, 'step' | 'traceparent'>;

/** @param system the `db.system.name` of the database */
export const tracedBy = (tracing: Steps, system: 'sqlite' | 'postgresql'): Traced => ({
  database: (database) => tracedDatabase(database, tracing, system),
  passwords: ({ hash, check, load }) => ({
    load,
    hash: (...all) => tracing.step({ name: 'hash password', kind: 'internal' }, () => hash(...all)),
    check: (...all) => tracing.step({ name: 'check password', kind: 'internal' }, () => check(...all)),
  }),
  outgoing: (send) => tracedOutgoing(send, tracing),
  mail: (transport) => ({
    send: (...all) =>
      tracing.step(
        { name: 'send mail', kind: 'client', mayBegin: true },
        () => transport.send(...all),
        ({ kind }) => ({ 'tessera.mail.result': kind }),
      ),
  }),
});

/** A unit of work takes from its call until its commit is durable: waiting is part of it. */
function tracedDatabase(database: Database, { step }: Steps, system: string): Database {
  const traced = <T>(operation: 'read' | 'commit', run: () => Promise<T>): Promise<T> => {
    const attributes = { 'db.system.name': system, 'db.operation.name': operation };
    return step({ name: operation, kind: 'client', attributes }, run);
  };
  return {
    ...database,
    read: (work) => traced('read', () => database.read(work)),
    commit: (work) => traced('commit', () => database.commit(work)),
  };
}

/**
 * The address is told without its path and query, which may hold what is confidential: that of a breach check has a part of a
 * password's hash. The trace is told to hosts of the operator's own networks only.
 */
function tracedOutgoing(send: Outgoing, { step, traceparent }: Steps): Outgoing {
  return (request) => {
    const { protocol, hostname, port } = new URL(request.url);
    const attributes = {
      'http.request.method': request.method,
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    };
    return step(
      { name: request.method, kind: 'client', attributes, mayBegin: true },
      () => {
        const parent = traceparent();
        return send(parent === undefined ? request : { ...request, ownNetworkHeaders: { traceparent: parent } });
      },
      ({ status }) => ({ 'http.response.status_code': status }),
    );
  };
}
