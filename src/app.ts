import cookie from '@fastify/cookie';
import type { FastifyBaseLogger } from 'fastify';
import { makeFirstSetupLink, setupAddress } from './account-actions/setup/setup.ts';
import { reportKeysWithoutRole } from './admin/keys.ts';
import { adminRoutes } from './admin/routes.ts';
import type { RecordThrottled } from './audit/throttle.ts';
import { startBackgroundWork } from './background.ts';
import { createOriginLookup } from './clients/origins.ts';
import { consoleRoutes } from './console/routes.ts';
import { type Base, type Domains, openBase, openDomains, type StartOptions } from './domains.ts';
import { sendTestMessage } from './mail/test-message.ts';
import { timeline } from './migrations/timeline.ts';
import { describedRoutes } from './openapi/document.ts';
import { referenceRoutes } from './openapi/routes.ts';
import { probeKey } from './operations/doctor/probe.ts';
import { doctorRoutes } from './operations/doctor/routes.ts';
import { examineRunning } from './operations/doctor/running.ts';
import { readiness } from './operations/health/readiness.ts';
import { healthRoutes } from './operations/health/routes.ts';
import { serveAssets } from './pages/assets.ts';
import { pageErrors, unroutedErrors } from './pages/error-page.ts';
import { en } from './pages/messages.ts';
import type { Clock } from './platform/clock.ts';
import { acceptForms } from './platform/http/bodies.ts';
import { headRequests } from './platform/http/head-requests.ts';
import { openHttpListener } from './platform/http/listener.ts';
import { watchOutages } from './platform/http/outages.ts';
import { readByHandler } from './platform/http/parameters.ts';
import { createApp } from './platform/http/server.ts';
import { logLine } from './platform/log.ts';
import { addLosses } from './platform/log-output.ts';
import { SYSTEM_ORIGIN } from './platform/validation/origin.ts';
import { deviceRoutes } from './protocol/device/routes.ts';
import { discoveryRoutes, insertedDiscoveryRoutes } from './protocol/discovery/routes.ts';
import { previewTokens } from './protocol/preview/preview.ts';
import { registrationRoutes } from './protocol/registration/routes.ts';
import { tokenRoutes } from './protocol/token/routes.ts';
import { upstreamLogoutRoutes } from './protocol/upstreams/routes.ts';
import { userInfoRoutes } from './protocol/userinfo/routes.ts';
import type { Config } from './settings/config.ts';
import { silenced } from './traces/recorders.ts';
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
import { playgroundRoutes } from './web/playground/routes.ts';
import { recoveryRoutes } from './web/recovery/routes.ts';
import { setupRoutes } from './web/setup/routes.ts';
import { refuseForeignForms } from './web/sign-in/foreign-forms.ts';
import { sessionRoutes } from './web/sign-in/routes.ts';
import { logoutRoutes } from './web/sign-out/routes.ts';
import { upstreamSignInRoutes } from './web/upstreams/routes.ts';

/** A running server. */
export interface Tessera {
  readonly baseUrl: string;
  readonly port: number;
  /** The port of the metrics, if they are served. */
  readonly metricsPort: number | undefined;
  /** The address at which the first owner makes their account, where nobody has anything yet. It is never logged. */
  readonly setupAddress: string | undefined;
  /** Reports to load balancers that this node is about to stop. It still answers requests. */
  drain(): void;
  /** Notifies apps of ended sessions now; this also happens every second. */
  deliverNotices(): Promise<void>;
  /** Makes the messages that were asked for now; this also happens every second. */
  sendRequestedMail(): Promise<void>;
  /** Makes the exports that people asked for now; this also happens every second. */
  makeExports(): Promise<void>;
  /** Goes on with acts on many people now; this also happens every second. */
  runBulkActs(): Promise<void>;
  /**
   * Answers the requests in progress, then closes the port and the store.
   * @param patiently whether to wait for clients that may be about to send another request
   */
  close(patiently?: boolean): Promise<void>;
}

/**
 * Composes the service: configuration, store, domains, routes, background work, listener.
 * @throws {ConfigError} when a part of it cannot be used; the message says what to do
 */
export async function start(config: Config, clock: Clock = Date.now, options: StartOptions = {}): Promise<Tessera> {
  const listener = await openHttpListener(config.host, config.port, options.share?.joins);
  // What was started is stopped in the reverse order, whether the start fails or the server is closed.
  const resources = new AsyncDisposableStack();
  try {
    const base = await openBase(config, clock, options, listener, resources);
    const domains = await openDomains(base);
    const { app, outages, unready, heads } = openApp(base, domains);
    registerRoutes(base, domains, { app, unready, heads });
    await app.ready();
    const { notices, requests, exports, bulkActs } = startBackgroundWork(base, domains, { outages, unready });
    if (base.isFirst) await reportKeysWithoutRole({ ...domains.services, clock }, app.log);
    const setup =
      base.isFirst && config.adminKey === undefined
        ? await makeFirstSetupLink(domains.services, SYSTEM_ORIGIN)
        : undefined;
    listener.onTlsHandshake(() => tellOfTls(base, app.log));
    await listener.open();
    await warnOfOtherServer(base);
    const drain = () => {
      base.draining = true;
      listener.drain();
    };
    return {
      baseUrl: base.baseUrl,
      port: listener.port,
      metricsPort: base.metricsPort,
      setupAddress: setup && setupAddress(base.baseUrl, setup),
      drain,
      deliverNotices: notices.deliverDue,
      sendRequestedMail: requests.poll,
      makeExports: exports.makeWaiting,
      runBulkActs: bulkActs.runDue,
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

/** A client was given an https address of this port, and sees only that the connection failed. */
function tellOfTls({ config, options }: Base, log: FastifyBaseLogger): void {
  const line =
    'A TLS handshake came to the HTTP port: use http:// in the address, or put a proxy before it that ends TLS.';
  const terminal = config.development ? options.developerTerminal : undefined;
  if (terminal === undefined) logLine(log, 'warn', 'a TLS handshake came to the HTTP port', {});
  else terminal.write(`✗ ${line}`);
}

/**
 * Two servers of one data folder that nobody gave a base URL have different issuers, so that an app of the one refuses the tokens of the
 * other.
 */
async function warnOfOtherServer({ config, core, options, baseUrl }: Base): Promise<void> {
  const { databaseUrl, processes } = config;
  const isEmbedded = databaseUrl.startsWith('sqlite:');
  if (options.warn === undefined || !isEmbedded || config.baseUrl !== undefined || processes > 1) return;
  const others = await core.database.read(() => core.ids.countOthers());
  if (others === 0) return;
  options.warn(
    `Another process uses ${databaseUrl}. If it is a server, its issuer is not ${baseUrl}, and apps of the one refuse tokens of the other. ` +
      'Stop one of them, or give this one a data folder of its own with --data-dir or TESSERA_DATA_DIR.',
  );
}

/** What answers requests, still without routes, and what readiness goes by. */
function openApp(base: Base, { services, clockWatch }: Domains) {
  const { config, clock, options, listener, resources, log, metrics, meter, telemetry } = base;
  const { database, ids, site, traces } = services;
  const unready = readiness({
    database,
    ids,
    compareClocks: clockWatch.compare,
    timeline: options.migration?.steps ?? timeline,
    isDraining: () => base.draining,
  });
  const outages = watchOutages(clock, meter, ({ level, facts, message }) => log.line(level, message, facts));
  resources.defer(() => outages.stop());
  const heads = headRequests(database);
  const app = createApp({
    server: listener.server,
    https: new URL(base.baseUrl).protocol === 'https:',
    trustProxy: config.trustProxy,
    logLevel: config.logLevel,
    log: options.log,
    meter: metrics?.meter,
    traceRefusal(request, reply) {
      if (request.method === 'HEAD') return;
      const step = refusedStep(request, reply);
      if (step !== undefined) traces.refused(step);
    },
    beginSpan: telemetry?.beginRequest,
    enterHead: heads.enter,
    waiting: options.waiting,
    outages,
    isRegisteredOrigin: createOriginLookup(database),
    answerError: unroutedErrors(site),
  });
  log.open(app.log);
  resources.defer(() => app.close());
  return { app, outages, unready, heads };
}

function registerRoutes(
  base: Base,
  { services, clockWatch }: Domains,
  { app, unready, heads }: Pick<ReturnType<typeof openApp>, 'app' | 'unready' | 'heads'>,
): void {
  const { config, clock, options, core, baseUrl, basePath } = base;
  const { site, keys, traces } = services;
  const recordThrottled: RecordThrottled = async (event) =>
    heads.isHead() ? undefined : services.recordThrottled(event);
  const routed = { ...services, database: heads.database, traces: silenced(traces, heads.isHead), recordThrottled };
  const described = describedRoutes(app);
  const published = {
    issuer: baseUrl,
    languages: [en.language],
    discoveryScopes: config.discoveryScopes,
    readsMetadata: config.clientMetadata.mode !== 'off',
    registersApps: config.registration !== 'off',
  };
  const loss = () => addLosses(options.log?.loss(), options.share?.lossOfAll());
  app.register(
    async (root) => {
      tokenRoutes(root, services);
      deviceRoutes(root, services);
      registrationRoutes(root, services);
      upstreamLogoutRoutes(root, services);
      userInfoRoutes(root, { ...routed, traces });
      adminRoutes(root, { ...routed, refusals: services });
      pictureRoutes(root, routed);
      healthRoutes(root, unready);
      // By the clock itself: the doctor examines a clock that is wrong, too.
      doctorRoutes(root, { ...routed, clock, trustProxy: config.trustProxy, probeKey: probeKey(core.secret), loss });
      discoveryRoutes(root, { keys, ...published, clock, traces: routed.traces });
      referenceRoutes(root, { ...routed, described });
      serveAssets(root);
      root.register(async (pages) => {
        pages.register(cookie);
        acceptForms(pages);
        // The routes themselves answer invalid parameters, with a page or a redirect.
        pages.setValidatorCompiler(readByHandler);
        pages.setErrorHandler(pageErrors(site));
        refuseForeignForms(pages, services);
        authorizationRoutes(pages, routed);
        homeRoutes(pages, routed, config.playground);
        sessionRoutes(pages, routed);
        upstreamSignInRoutes(pages, routed);
        setupRoutes(pages, { ...routed, localSetup: config.baseUrl === undefined, playground: config.playground });
        recoveryRoutes(pages, routed);
        // Their GET commits nothing but a throttled refusal.
        consentRoutes(pages, { ...services, recordThrottled });
        devicePageRoutes(pages, routed);
        accountPages(pages, routed);
        consoleRoutes(pages, {
          ...routed,
          settings: config.told,
          sendTestMail: (database, to, origin) =>
            sendTestMessage({ database, config }, services.mail, { to, baseUrl, origin, now: clock() }),
          previewTokens: (database, asked, origin) =>
            previewTokens({ database, clock, issuer: baseUrl }, asked, origin),
          isDraining: () => base.draining,
          examine: () =>
            examineRunning({
              ...{ config, baseUrl, database: heads.database, clock, clockOffset: clockWatch.compare, loss },
              upstreams: services.upstreams,
            }),
        });
        addressRoutes(pages, routed);
        logoutRoutes(pages, routed);
        if (config.mail.mailbox) {
          const door = mailboxDoor(mailboxKey(config, core.secret), site.path('/mailbox'), baseUrl);
          mailboxRoutes(pages, { ...routed, door });
        }
        if (config.playground) playgroundRoutes(pages, routed);
      });
    },
    { prefix: basePath },
  );
  insertedDiscoveryRoutes(app, published, basePath);
  changePasswordRoute(app, site);
}
