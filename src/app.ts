import cookie from '@fastify/cookie';
import type { FastifyBaseLogger } from 'fastify';
import { deleteDueAccounts } from './account-actions/personal-data/deletion.ts';
import { maintainExports } from './account-actions/personal-data/export.ts';
import { startExportDispatcher } from './account-actions/personal-data/export-dispatcher.ts';
import { startRequestDispatcher } from './account-actions/recovery/requests.ts';
import { registerConfiguredAdminKey, reportKeysWithoutRole } from './admin/keys.ts';
import { adminRoutes } from './admin/routes.ts';
import { type RecordThrottled, throttledRecorder } from './audit/throttle.ts';
import { relyingPartyOf } from './authenticators/relying-party.ts';
import { createOriginLookup } from './clients/origins.ts';
import { type OpenOptions, openCore } from './core.ts';
import { maintainKeys, openKeys } from './keys/keys.ts';
import { startMailDispatcher } from './mail/dispatcher.ts';
import { maintainMail } from './mail/mail.ts';
import { greetingOf, senderOf } from './mail/message.ts';
import { describedRoutes } from './openapi/document.ts';
import { referenceRoutes } from './openapi/routes.ts';
import { probeKey } from './operations/doctor/probe.ts';
import { doctorRoutes } from './operations/doctor/routes.ts';
import { readiness } from './operations/health/readiness.ts';
import { healthRoutes } from './operations/health/routes.ts';
import { readBacklog, startHousekeeping } from './operations/housekeeping/housekeeping.ts';
import { serveAssets } from './pages/assets.ts';
import { pageErrors, unroutedErrors } from './pages/error-page.ts';
import type { Site } from './pages/layout.ts';
import { en } from './pages/messages.ts';
import { type Clock, MINUTE, startClockWatch } from './platform/clock.ts';
import { baseUrlOf, type Config, isLoopback } from './platform/config/config.ts';
import { previousSecrets } from './platform/config/secret-file.ts';
import { deriveKey } from './platform/crypto/secrets.ts';
import { StoreUnavailable } from './platform/database/database.ts';
import { timeline } from './platform/database/migrations/timeline.ts';
import { acceptForms } from './platform/http/bodies.ts';
import { browsers } from './platform/http/browser.ts';
import { headRequests } from './platform/http/head-requests.ts';
import { openHttpListener } from './platform/http/listener.ts';
import { unmetered } from './platform/http/meter.ts';
import { watchOutages } from './platform/http/outages.ts';
import { outgoing } from './platform/http/outgoing.ts';
import { readByHandler } from './platform/http/parameters.ts';
import { createApp } from './platform/http/server.ts';
import type { Waiting } from './platform/http/waiting.ts';
import { startLeaseRenewal } from './platform/ids/ids.ts';
import { type LogMessage, logLine } from './platform/log.ts';
import { addLosses, type LogLoss, type LogOutput } from './platform/log-output.ts';
import { smtpTransport } from './platform/mail/transport.ts';
import { listenForMetrics } from './platform/metrics/listener.ts';
import type { Metrics } from './platform/metrics/metrics.ts';
import { createClientKeys } from './protocol/client-authentication/client-keys.ts';
import { deviceRoutes } from './protocol/device/routes.ts';
import { discoveryRoutes, insertedDiscoveryRoutes } from './protocol/discovery/routes.ts';
import { startNoticeDispatcher } from './protocol/logout/notice-dispatcher.ts';
import { tokenRoutes } from './protocol/token/routes.ts';
import { userInfoRoutes } from './protocol/userinfo/routes.ts';
import { openTraces, silenced } from './traces/recorders.ts';
import { refusedStep } from './traces/refusals.ts';
import { accountPages, changePasswordRoute } from './web/account/routes.ts';
import { addressRoutes } from './web/addresses/routes.ts';
import { authorizationRoutes } from './web/authorize/routes.ts';
import { consentRoutes } from './web/consent/routes.ts';
import { devicePageRoutes } from './web/device/routes.ts';
import { homeRoutes } from './web/home/routes.ts';
import { mailboxDoor, mailboxKey } from './web/mailbox/key.ts';
import { mailboxRoutes } from './web/mailbox/routes.ts';
import { pictureRoutes } from './web/pictures/routes.ts';
import { requestSender } from './web/playground/exchange.ts';
import { playgroundRoutes } from './web/playground/routes.ts';
import { recoveryRoutes } from './web/recovery/routes.ts';
import { refuseForeignForms } from './web/sign-in/foreign-forms.ts';
import { sessionRoutes } from './web/sign-in/routes.ts';
import { logoutRoutes } from './web/sign-out/routes.ts';

/** A running server. */
export interface Tessera {
  readonly baseUrl: string;
  readonly port: number;
  /** The port of the metrics, if they are served. */
  readonly metricsPort: number | undefined;
  /** Reports to load balancers that this node is about to stop. It still answers requests. */
  drain(): void;
  /** Notifies apps of ended sessions now; this also happens every second. */
  deliverNotices(): Promise<void>;
  /** Makes the messages that were asked for now; this also happens every second. */
  sendRequestedMail(): Promise<void>;
  /** Makes the exports that people asked for now; this also happens every second. */
  makeExports(): Promise<void>;
  /**
   * Answers the requests in progress, then closes the port and the store.
   * @param patiently whether to wait for clients that may be about to send another request
   */
  close(patiently?: boolean): Promise<void>;
}

/** What a process shares with the others of a service that several make up. */
export interface ProcessShare {
  /** From 1. A process that replaces another has its number. */
  readonly number: number;
  /** The port on which others of them answer already; undefined for the one that comes first. */
  readonly joins: number | undefined;
  /** Is given the metrics of this process, which are served with those of the others and not by themselves. */
  readonly addMetrics: (metrics: Metrics) => void;
  /** What was lost of the log after it had left this process, as far as is known. */
  readonly lossOfAll: () => LogLoss | undefined;
}

export interface StartOptions extends OpenOptions {
  readonly share?: ProcessShare;
  /** Where the log is written: to the standard output by default. */
  readonly log?: Pick<LogOutput, 'write' | 'loss'>;
  /** With a loopback base URL: called with one readable line for each request of an app that is refused, or ignored in part. */
  readonly tellDeveloper?: (line: string) => void;
  /** For how long requests waited before they were read, so that those that came too late are not begun. */
  readonly waiting?: Waiting;
}

/**
 * Composes the service: configuration, store, domains, routes, background work, listener.
 * @throws {ConfigError} when a part of it cannot be used; the message says what to do
 */
export async function start(config: Config, clock: Clock = Date.now, options: StartOptions = {}): Promise<Tessera> {
  const { share, log, waiting } = options;
  // What concerns the service as a whole is left to the process that comes first.
  const isFirst = share?.joins === undefined;
  const listener = await openHttpListener(config.host, config.port, share?.joins);
  // What was started is stopped in the reverse order, whether the start fails or the server is closed.
  const resources = new AsyncDisposableStack();
  try {
    // Configuration
    const baseUrl = baseUrlOf(config, listener.port);
    const { hostname, pathname, protocol } = new URL(baseUrl);
    const basePath = pathname.replace(/\/$/, '');
    const local = isLoopback(hostname);
    const metrics =
      (config.metricsAddress ?? config.telemetry?.metrics) &&
      (await import('./platform/metrics/metrics.ts')).createMetrics();
    const meter = metrics?.meter ?? unmetered;

    // Loaded on demand, and without it nothing is traced: see platform/telemetry/README.md.
    const logger = Promise.withResolvers<FastifyBaseLogger>();
    const telemetry =
      config.telemetry &&
      (await import('./platform/telemetry/telemetry.ts')).startTelemetry({
        settings: config.telemetry,
        process: share?.number,
        databaseSystem: config.databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgresql',
        registry: metrics?.registry,
        meter,
        changed(signal, cause) {
          void logger.promise.then((log) => {
            if (cause === undefined) logLine(log, 'info', 'the collector takes telemetry again', { signal });
            else logLine(log, 'warn', 'the collector does not take telemetry', { signal, cause });
          });
        },
      });
    const traced = telemetry?.traced;

    // Store
    const meterOption = metrics && { meter: metrics.meter };
    const core = await openCore(config, clock, { ...options, ...meterOption, traced, checkStructure: isFirst });
    resources.defer(() => core.close());
    resources.defer(() => telemetry?.stop());
    const { database, ids, passwords, breaches, pictures, secret } = core;
    metrics?.watch(core);
    if (metrics) share?.addMetrics(metrics);
    const ownAddress = share === undefined ? config.metricsAddress : undefined;
    const metricsListener = metrics && ownAddress && (await listenForMetrics(ownAddress, metrics));
    resources.defer(() => metricsListener?.close());

    // Domains
    const clockWatch = await startClockWatch(database, clock);
    resources.defer(() => clockWatch.stop());
    const keys = await openKeys(database, { current: secret, previous: previousSecrets(config) }, clock);
    const sealer = await core.sealer();
    const mail = await core.mailer();
    const site: Site = { path: (path) => basePath + path, messages: en, contact: config.contact };
    const traces = openTraces(config.traceRetention !== null, {
      database,
      clock,
      dropped: meter.droppedSteps,
      failed: (error) => logLine(app.log, 'error', 'the steps of traces', { err: error }),
      tell: local ? options.tellDeveloper : undefined,
    });
    resources.defer(() => traces.stop());
    const guarded = outgoing({ local, networks: config.outgoingAllow });
    const send = traced?.outgoing(guarded) ?? guarded;
    const services = {
      database,
      // Throws while the clock is known to be wrong, so that nothing is decided by it.
      clock: clockWatch.clock,
      ids,
      keys,
      sealer,
      mail,
      mailbox: config.mail.mailbox,
      signUp: config.signUp,
      secondFactor: config.secondFactor,
      signInCode: config.signInCode,
      trustedBrowsers: config.trustedBrowsers,
      passwords,
      breaches,
      pictures,
      limits: config.limits,
      issuer: baseUrl,
      site,
      local,
      browsers: browsers(baseUrl, deriveKey(secret, 'form tokens')),
      relyingParty: relyingPartyOf(baseUrl, deriveKey(secret, 'passkey challenges')),
      codeKey: deriveKey(secret, 'authorization codes'),
      userCodeKey: deriveKey(secret, 'user codes'),
      adminKey: await registerConfiguredAdminKey({ database, clock, ids }, config.adminKey),
      recordThrottled: throttledRecorder(database),
      traces,
      traceRetention: config.traceRetention,
      clientKeys: createClientKeys(send, clock),
      playgroundKey: deriveKey(secret, 'playground visits'),
      sendRequest: requestSender(listener, baseUrl),
    };

    // Routes
    let draining = false;
    const unready = readiness({
      database,
      ids,
      compareClocks: clockWatch.compare,
      timeline: options.migration?.steps ?? timeline,
      isDraining: () => draining,
    });
    const outages = watchOutages(clock, meter, ({ level, facts, message }) => logLine(app.log, level, message, facts));
    resources.defer(() => outages.stop());
    const heads = headRequests(database);
    const app = createApp({
      server: listener.server,
      https: protocol === 'https:',
      trustProxy: config.trustProxy,
      logLevel: config.logLevel,
      log,
      meter: metrics?.meter,
      traceRefusal(request, reply) {
        if (request.method === 'HEAD') return;
        const step = refusedStep(request, reply);
        if (step !== undefined) traces.refused(step);
      },
      beginSpan: telemetry?.beginRequest,
      enterHead: heads.enter,
      waiting,
      outages,
      isRegisteredOrigin: createOriginLookup(database),
      answerError: unroutedErrors(site),
    });
    logger.resolve(app.log);
    resources.defer(() => app.close());
    const recordThrottled: RecordThrottled = async (event) =>
      heads.isHead() ? undefined : services.recordThrottled(event);
    const routed = {
      ...services,
      database: heads.database,
      traces: silenced(traces, heads.isHead),
      recordThrottled,
    };
    const described = describedRoutes(app);
    const published = { issuer: baseUrl, languages: [en.language], discoveryScopes: config.discoveryScopes };
    const loss = () => addLosses(log?.loss(), share?.lossOfAll());
    app.register(
      async (root) => {
        tokenRoutes(root, services);
        deviceRoutes(root, services);
        userInfoRoutes(root, { ...routed, traces });
        adminRoutes(root, { ...routed, refusals: services });
        pictureRoutes(root, routed);
        healthRoutes(root, unready);
        // By the clock itself: the doctor examines a clock that is wrong, too.
        doctorRoutes(root, { ...routed, clock, trustProxy: config.trustProxy, probeKey: probeKey(secret), loss });
        discoveryRoutes(root, { keys, ...published });
        referenceRoutes(root, { ...routed, described });
        serveAssets(root);
        homeRoutes(root, site, config.playground);
        root.register(async (pages) => {
          pages.register(cookie);
          acceptForms(pages);
          // The routes themselves answer invalid parameters, with a page or a redirect.
          pages.setValidatorCompiler(readByHandler);
          pages.setErrorHandler(pageErrors(site));
          refuseForeignForms(pages, services);
          authorizationRoutes(pages, routed);
          sessionRoutes(pages, routed);
          recoveryRoutes(pages, routed);
          // Their GET commits nothing but a throttled refusal.
          consentRoutes(pages, { ...services, recordThrottled });
          devicePageRoutes(pages, routed);
          accountPages(pages, routed);
          addressRoutes(pages, routed);
          logoutRoutes(pages, routed);
          if (config.mail.mailbox) {
            const door = mailboxDoor(mailboxKey(config, secret), site.path('/mailbox'), baseUrl);
            mailboxRoutes(pages, { ...routed, door });
          }
          if (config.playground) playgroundRoutes(pages, routed);
        });
      },
      { prefix: basePath },
    );
    insertedDiscoveryRoutes(app, published, basePath);
    changePasswordRoute(app, site);
    await app.ready();

    // Background work
    const reportFailure = (work: LogMessage) => (error: unknown) => {
      if (error instanceof StoreUnavailable) outages.failed(new StoreUnavailable(`${work}: ${error.message}`), false);
      else logLine(app.log, 'error', work, { err: error });
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
          await maintainMail(database, now);
          await maintainKeys(database, secret, now, config.keyRotation);
        },
        failed: reportFailure('housekeeping'),
      }),
    );
    const dispatcher = startNoticeDispatcher({
      ...services,
      clock,
      send,
      meter,
      failed: reportFailure('notices of ended sessions'),
    });
    background.push(() => dispatcher.stop());
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
    if (mailDispatcher !== undefined) metrics?.watchMail(mailDispatcher);
    if (!mail.available && !local && isFirst) {
      logLine(app.log, 'warn', 'mail is off, and with it what needs mail: set TESSERA_SMTP_URL', {});
    }
    if (isFirst) await reportKeysWithoutRole(services, app.log);
    const requestDispatcher = startRequestDispatcher({
      ...services,
      contact: config.contact,
      meter,
      failed: reportFailure('messages that were asked for'),
    });
    background.push(() => requestDispatcher.stop());
    const exportDispatcher = startExportDispatcher({ ...services, clock, failed: reportFailure('exports') });
    background.push(() => exportDispatcher.stop());
    metrics?.watchNode({ unready, clockOffset: clockWatch.compare });
    metrics?.watchStore(outages);
    if (log) metrics?.watchLog(log);
    metrics?.watchBacklog({ read: () => readBacklog({ database, clock }, retention) });
    metrics?.watchNotices(dispatcher);
    metrics?.watchNumbers(ids);

    await listener.open();
    const drain = () => {
      draining = true;
      listener.drain();
    };
    return {
      baseUrl,
      port: listener.port,
      metricsPort: metricsListener?.port,
      drain,
      deliverNotices: dispatcher.deliverDue,
      sendRequestedMail: requestDispatcher.poll,
      makeExports: exportDispatcher.makeWaiting,
      async close(patiently) {
        drain();
        await listener.close(patiently);
        await resources.disposeAsync();
      },
    };
  } catch (error) {
    await listener.close();
    await resources.disposeAsync();
    throw error;
  }
}
