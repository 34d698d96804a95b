import { startBulkDispatcher } from './account-actions/bulk/dispatcher.ts';
import { maintainBulkActs } from './account-actions/bulk/lists.ts';
import { deleteDueAccounts } from './account-actions/personal-data/deletion.ts';
import { maintainExports } from './account-actions/personal-data/export.ts';
import { startExportDispatcher } from './account-actions/personal-data/export-dispatcher.ts';
import { startRequestDispatcher } from './account-actions/recovery/requests.ts';
import { countEvents } from './audit/counts.ts';
import type { Base, Domains } from './domains.ts';
import { maintainKeys } from './keys/keys.ts';
import { startMailDispatcher } from './mail/dispatcher.ts';
import { maintainMail } from './mail/mail.ts';
import { greetingOf, senderOf } from './mail/message.ts';
import { readBacklog, startHousekeeping } from './operations/housekeeping/housekeeping.ts';
import { MINUTE } from './platform/clock.ts';
import { StoreUnavailable } from './platform/database/database.ts';
import type { Outages } from './platform/http/outages.ts';
import { startLeaseRenewal } from './platform/ids/ids.ts';
import type { LogMessage } from './platform/log.ts';
import { smtpTransport } from './platform/mail/transport.ts';
import { startNoticeDispatcher } from './protocol/logout/notice-dispatcher.ts';

/** Starts what runs beside the requests. */
export function startBackgroundWork(
  { config, clock, options, resources, log, metrics, meter, traced, core, isFirst, baseUrl, local }: Base,
  { services, clockWatch, send }: Domains,
  { outages, unready }: { readonly outages: Outages; readonly unready: () => Promise<string | undefined> },
) {
  const { database, ids, sealer, mail } = services;
  const reportFailure = (work: LogMessage) => (error: unknown) => {
    if (error instanceof StoreUnavailable) outages.failed(new StoreUnavailable(`${work}: ${error.message}`), false);
    else log.line('error', work, { err: error });
  };
  // All at once: each may be waiting for a database that does not answer.
  const background: (() => Promise<unknown> | unknown)[] = [];
  resources.defer(async () => void (await Promise.all(background.map((stop) => stop()))));
  background.push(startLeaseRenewal(ids, reportFailure('the node number')));
  const retention = { events: config.auditRetention, steps: config.traceRetention ?? 0 };
  background.push(
    startHousekeeping({
      database,
      clock,
      interval: MINUTE,
      settings: retention,
      meter: metrics?.housekeeping,
      async afterSweep(now) {
        await deleteDueAccounts({ database, clock }, now);
        await maintainExports(database, now);
        await maintainBulkActs(database, now);
        await countEvents(database, now);
        await maintainMail(database, now);
        await maintainKeys(database, core.secret, now, config.keyRotation);
      },
      failed: reportFailure('housekeeping'),
    }),
  );
  const failedNotices = reportFailure('notices of ended sessions');
  const { domains: listedDomains } = config.clientMetadata;
  const notices = startNoticeDispatcher({ ...services, clock, send, listedDomains, meter, failed: failedNotices });
  background.push(() => notices.stop());
  const smtp = config.mail.smtp && smtpTransport(config.mail.smtp, { greeting: greetingOf(config, baseUrl) });
  const mailDispatcher =
    smtp &&
    startMailDispatcher({
      database,
      clock,
      sealer,
      transport: traced?.mail(smtp) ?? smtp,
      sender: senderOf(config, baseUrl),
      meter,
      failed: reportFailure('mail'),
    });
  background.push(() => mailDispatcher?.stop());
  if (!mail.available && !local && isFirst) {
    log.line('warn', 'mail is off, and with it what needs mail: set TESSERA_SMTP_URL', {});
  }
  const failedRequests = reportFailure('messages that were asked for');
  const requests = startRequestDispatcher({ ...services, meter, failed: failedRequests });
  background.push(() => requests.stop());
  const exports = startExportDispatcher({ ...services, clock, failed: reportFailure('exports') });
  background.push(() => exports.stop());
  const bulkActs = startBulkDispatcher({ ...services, clock, failed: reportFailure('acts on many people') });
  background.push(() => bulkActs.stop());
  if (mailDispatcher !== undefined) metrics?.watchMail(mailDispatcher);
  metrics?.watchNode({ unready, clockOffset: clockWatch.compare });
  metrics?.watchStore(outages);
  if (options.log) metrics?.watchLog(options.log);
  metrics?.watchBacklog({ read: () => readBacklog({ database, clock }, retention) });
  metrics?.watchNotices(notices);
  metrics?.watchNumbers(ids);
  return { notices, requests, exports, bulkActs };
}
