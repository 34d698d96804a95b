import cookie from '@fastify/cookie';
import { accountPages, changePasswordRoute } from './accounts/routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { authorizationRoutes } from './authorization/authorize.ts';
import { clientKeys } from './clients/client-keys.ts';
import { fillOrigins, registeredOrigins } from './clients/origins.ts';
import { type Clock, MINUTE } from './clock.ts';
import { baseUrlOf, type Config, isLoopback } from './config/config.ts';
import { previousSecret } from './config/secret-file.ts';
import { consentRoutes } from './consent/routes.ts';
import { type Core, type Opening, openCore } from './core.ts';
import { StoreUnavailable } from './database/database.ts';
import { timeline } from './database/migrations/timeline.ts';
import { discoveryRoutes, insertedDiscoveryRoutes } from './discovery/routes.ts';
import { probeKey } from './doctor/probe.ts';
import { doctorRoutes } from './doctor/routes.ts';
import { notes } from './events/notes.ts';
import { readiness } from './health/readiness.ts';
import { healthRoutes } from './health/routes.ts';
import { type ClockWatch, watchClock } from './health/shared-time.ts';
import { homeRoutes } from './home/routes.ts';
import { startHousekeeping } from './housekeeping/housekeeping.ts';
import { acceptForms } from './http/bodies.ts';
import { browsers } from './http/browser.ts';
import { listen } from './http/listener.ts';
import { watchOutages } from './http/outages.ts';
import { outgoing } from './http/outgoing.ts';
import { createApp } from './http/server.ts';
import { readByHandler } from './http/validators.ts';
import { keepNumber } from './identifiers/keep.ts';
import { openKeys, tendKeys } from './keys/keys.ts';
import { startCourier } from './logout/courier.ts';
import { logoutRoutes } from './logout/routes.ts';
import { listenForMetrics, type MetricsListener } from './metrics/listener.ts';
import { unmetered } from './metrics/meter.ts';
import { describedRoutes } from './openapi/document.ts';
import { referenceRoutes } from './openapi/routes.ts';
import { serveAssets } from './pages/assets.ts';
import { pageErrors, strayErrors } from './pages/error-page.ts';
import type { Site } from './pages/layout.ts';
import { en } from './pages/messages.ts';
import { pictureRoutes } from './pictures/routes.ts';
import { playgroundRoutes } from './playground/routes.ts';
import { wireTo } from './playground/wire.ts';
import { deriveKey } from './secrets.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { tokenRoutes } from './token/routes.ts';
import { userInfoRoutes } from './userinfo/routes.ts';

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
  const listener = await listen(config.host, config.port);
  let core: Core | undefined;
  let figures: MetricsListener | undefined;
  let watch: ClockWatch | undefined;
  try {
    const baseUrl = baseUrlOf(config, listener.port);
    const metrics = config.metricsAddress && (await import('./metrics/metrics.ts')).createMetrics();
    const meter = metrics?.meter ?? unmetered;
    const opened = await openCore(config, clock, { ...opening, meter, thorough: true });
    core = opened;
    metrics?.watch(opened);
    figures = metrics && config.metricsAddress && (await listenForMetrics(config.metricsAddress, metrics));
    const { database, ids, passwords, pictures, secret } = opened;
    const time = await watchClock(database, clock);
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
      note: notes(database),
      clientKeys: clientKeys(ask, clock),
      visitKey: deriveKey(secret, 'playground visits'),
      wire: wireTo(listener, baseUrl),
    };

    await fillOrigins(database);
    let draining = false;
    const known = opening.migration?.steps ?? timeline;
    const unready = readiness({ ...parts, compareClocks: time.compare, timeline: known, leaving: () => draining });
    metrics?.watchNode({ unready, clockOffset: time.compare });
    const outages = watchOutages(clock, meter, ({ level, facts, message }) => app.log[level](facts, message));
    metrics?.watchStore(outages);
    const failedAt = (what: string) => (error: unknown) => {
      if (error instanceof StoreUnavailable) outages.failed(error, false);
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
    const stopHousekeeping = startHousekeeping(
      database,
      clock,
      MINUTE,
      failedAt('housekeeping'),
      (now) => tendKeys(database, secret, now, config.keyRotation),
      config.auditRetention,
    );
    const courier = startCourier({ ...parts, clock, send: ask, meter, failed: failedAt('notices of ended sessions') });
    metrics?.watchNotices(courier);
    metrics?.watchNumbers(ids);
    const stopKeeping = keepNumber(ids, failedAt('the node number'));
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
      deliverNotices: courier.deliverDue,
      async close(patiently) {
        drain();
        await listener.close(patiently);
        await courier.stop();
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
