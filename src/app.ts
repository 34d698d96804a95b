import cookie from '@fastify/cookie';
import { adminRoutes } from './admin/routes.ts';
import { throttledRecorder } from './audit/throttle.ts';
import { createClientKeys } from './clients/authentication/client-keys.ts';
import { fillOrigins, registeredOrigins } from './clients/origins.ts';
import { type Core, type Opening, openCore } from './core.ts';
import { maintainKeys, openKeys } from './keys/keys.ts';
import { describedRoutes } from './openapi/document.ts';
import { referenceRoutes } from './openapi/routes.ts';
import { probeKey } from './operations/doctor/probe.ts';
import { doctorRoutes } from './operations/doctor/routes.ts';
import { readiness } from './operations/health/readiness.ts';
import { healthRoutes } from './operations/health/routes.ts';

import { startHousekeeping } from './operations/housekeeping/housekeeping.ts';
import { type Clock, type ClockWatch, MINUTE, startClockWatch } from './platform/clock.ts';
import { baseUrlOf, type Config, isLoopback } from './platform/config/config.ts';
import { previousSecret } from './platform/config/secret-file.ts';
import { deriveKey } from './platform/crypto/secrets.ts';
import { StoreUnavailable } from './platform/database/database.ts';
import { timeline } from './platform/database/migrations/timeline.ts';
import { acceptForms } from './platform/http/bodies.ts';
import { browsers } from './platform/http/browser.ts';
import { openHttpListener } from './platform/http/listener.ts';
import { watchOutages } from './platform/http/outages.ts';
import { outgoing } from './platform/http/outgoing.ts';
import { readByHandler } from './platform/http/parameters.ts';
import { createApp, unmetered } from './platform/http/server.ts';
import { startLeaseRenewal } from './platform/ids/ids.ts';
import { listenForMetrics, type MetricsListener } from './platform/metrics/listener.ts';
import { authorizationRoutes } from './protocol/authorize/authorize.ts';
import { discoveryRoutes, insertedDiscoveryRoutes } from './protocol/discovery/routes.ts';
import { startNoticeDispatcher } from './protocol/logout/notice-dispatcher.ts';
import { logoutRoutes } from './protocol/logout/routes.ts';
import { tokenRoutes } from './protocol/token/routes.ts';
import { userInfoRoutes } from './protocol/userinfo/routes.ts';
import { accountPages, changePasswordRoute } from './web/account/routes.ts';
import { consentRoutes } from './web/consent/routes.ts';
import { homeRoutes } from './web/home/routes.ts';
import { serveAssets } from './web/kit/assets.ts';
import { pageErrors, strayErrors } from './web/kit/error-page.ts';
import type { Site } from './web/kit/layout.ts';
import { en } from './web/kit/messages.ts';
import { pictureRoutes } from './web/pictures/routes.ts';
import { requestSender } from './web/playground/exchange.ts';
import { playgroundRoutes } from './web/playground/routes.ts';

import { sessionRoutes } from './web/sign-in/routes.ts';

/** A server that answers. */
export interface Tessera {
  readonly baseUrl: string;
  /** The port of the figures, where they are served. */
  readonly metricsPort: number | undefined;
  /** Tells load balancers that this node is about to stop; it goes on answering. */
  drain(): void;
  /** Tells apps of the sessions that have ended; this is done every second by itself, too. */
  deliverNotices(): Promise<void>;
  /**
   * Answers what is under way, then lets go of the port and the data.
   * @param patiently whether callers that are about to send another request get the time to
   */
  close(patiently?: boolean): Promise<void>;
}

/**
 * Puts the service together: configuration, port, store, domains, routes. There is no other place where they meet.
 * @throws {ConfigError} where something of it cannot be had, with the remedy
 */
export async function start(config: Config, clock: Clock = Date.now, opening: Opening = {}): Promise<Tessera> {
  const listener = await openHttpListener(config.host, config.port);
  let core: Core | undefined;
  let figures: MetricsListener | undefined;
  let watch: ClockWatch | undefined;
  try {
    const baseUrl = baseUrlOf(config, listener.port);
    const metrics = config.metricsAddress && (await import('./platform/metrics/metrics.ts')).createMetrics();
    const meter = metrics?.meter ?? unmetered;
    const opened = await openCore(config, clock, {
      ...opening,
      ...(metrics && { meter: metrics.meter }),
      thorough: true,
    });
    core = opened;
    metrics?.watch(opened);
    figures = metrics && config.metricsAddress && (await listenForMetrics(config.metricsAddress, metrics));
    const { database, ids, passwords, pictures, secret } = opened;
    const time = await startClockWatch(database, clock);
    watch = time;
    const keys = await openKeys(database, { current: secret, previous: previousSecret(config) }, clock);
    const { limits } = config;
    const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
    const site: Site = { path: (path) => basePath + path, messages: en };
    const local = isLoopback(new URL(baseUrl).hostname);
    const ask = outgoing({ local, networks: config.outgoingAllow });
    const parts = {
      database,
      // By a clock that is known to be wrong nothing is decided for anyone.
      clock: time.clock,
      ids,
      keys,
      passwords,
      pictures,
      limits,
      issuer: baseUrl,
      site,
      local,
      browsers: browsers(baseUrl, deriveKey(secret, 'form tokens')),
      codeKey: deriveKey(secret, 'authorization codes'),
      adminKey: config.adminKey,
      recordThrottled: throttledRecorder(database),
      clientKeys: createClientKeys(ask, clock),
      playgroundKey: deriveKey(secret, 'playground visits'),
      sendRequest: requestSender(listener, baseUrl),
    };

    await fillOrigins(database);
    let draining = false;
    const known = opening.migration?.steps ?? timeline;
    const unready = readiness({ ...parts, compareClocks: time.compare, timeline: known, leaving: () => draining });
    metrics?.watchNode({ unready, clockOffset: time.compare });
    const outages = watchOutages(clock, meter, ({ level, facts, message }) => app.log[level](facts, message));
    metrics?.watchStore(outages);
    const failedAt = (what: string) => (error: unknown) => {
      if (error instanceof StoreUnavailable) outages.failed(new StoreUnavailable(`${what}: ${error.message}`), false);
      else app.log.error({ err: error }, what);
    };
    const app = createApp({
      server: listener.server,
      https: new URL(baseUrl).protocol === 'https:',
      trustProxy: config.trustProxy,
      logLevel: config.logLevel,
      meter,
      outages,
      isRegisteredOrigin: registeredOrigins(database),
      answerError: strayErrors(site),
    });
    const described = describedRoutes(app);
    app.register(
      async (root) => {
        tokenRoutes(root, parts);
        userInfoRoutes(root, parts);
        adminRoutes(root, parts);
        pictureRoutes(root, parts);
        healthRoutes(root, unready);
        doctorRoutes(root, { ...parts, clock, trustProxy: config.trustProxy, probeKey: probeKey(secret) });
        discoveryRoutes(root, parts);
        referenceRoutes(root, { ...parts, described });
        serveAssets(root);
        homeRoutes(root, site, config.playground);
        root.register(async (pages) => {
          pages.register(cookie);
          acceptForms(pages);
          // What is wrong with a parameter becomes a page or a redirect, which the routes decide about.
          pages.setValidatorCompiler(readByHandler);
          pages.setErrorHandler(pageErrors(site));
          authorizationRoutes(pages, parts);
          sessionRoutes(pages, parts);
          consentRoutes(pages, parts);
          accountPages(pages, parts);
          logoutRoutes(pages, parts);
          if (config.playground) playgroundRoutes(pages, parts);
        });
      },
      { prefix: basePath },
    );
    insertedDiscoveryRoutes(app, parts, basePath);
    changePasswordRoute(app, site);
    await app.ready();
    const stopHousekeeping = startHousekeeping({
      database,
      clock,
      interval: MINUTE,
      keepEvents: config.auditRetention,
      afterSweep: (now) => maintainKeys(database, secret, now, config.keyRotation),
      failed: failedAt('housekeeping'),
    });
    const dispatcher = startNoticeDispatcher({
      ...parts,
      clock,
      send: ask,
      meter,
      failed: failedAt('notices of ended sessions'),
    });
    metrics?.watchNotices(dispatcher);
    metrics?.watchNumbers(ids);
    const stopKeeping = startLeaseRenewal(ids, failedAt('the node number'));
    listener.open();

    const served = figures;
    const drain = () => {
      draining = true;
      listener.drain();
    };
    return {
      baseUrl,
      metricsPort: served?.port,
      drain,
      deliverNotices: dispatcher.deliverDue,
      async close(patiently) {
        drain();
        await listener.close(patiently);
        await dispatcher.stop();
        await stopHousekeeping();
        await stopKeeping();
        outages.stop();
        time.stop();
        await app.close();
        await opened.close();
        await served?.close();
      },
    };
  } catch (error) {
    watch?.stop();
    await listener.close();
    await core?.close();
    await figures?.close();
    throw error;
  }
}
