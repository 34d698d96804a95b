import { registerConfiguredAdminKey } from './admin/keys.ts';
import { throttledRecorder } from './audit/throttle.ts';
import { relyingPartyOf } from './authenticators/relying-party.ts';
import { type OpenOptions, openCore } from './core.ts';
import { openKeys } from './keys/keys.ts';
import type { Site } from './pages/layout.ts';
import { en } from './pages/messages.ts';
import { type Clock, startClockWatch } from './platform/clock.ts';
import { isLoopback } from './platform/config/loopback.ts';
import { deriveKey } from './platform/crypto/secrets.ts';
import type { HttpListener } from './platform/http/listener.ts';
import { unmetered } from './platform/http/meter.ts';
import { outgoing } from './platform/http/outgoing.ts';
import type { Waiting } from './platform/http/waiting.ts';
import { LateLog } from './platform/late-log.ts';
import type { LogLoss, LogOutput } from './platform/log-output.ts';
import { listenForMetrics } from './platform/metrics/listener.ts';
import type { Metrics } from './platform/metrics/metrics.ts';
import { createClientKeys } from './protocol/client-authentication/client-keys.ts';
import { createMetadataDocuments } from './protocol/client-metadata/documents.ts';
import { createMetadataClients } from './protocol/client-metadata/metadata-clients.ts';
import { baseUrlOf, type Config } from './settings/config.ts';
import { previousSecrets } from './settings/secret-file.ts';
import { type DeveloperTerminal, openTraces } from './traces/recorders.ts';
import { createUpstreams } from './upstreams/directory.ts';
import { browsers } from './web/browser/browser.ts';
import { requestSender } from './web/playground/exchange.ts';

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
  /** With `development`: is given one readable line for each request of an app that is refused, or ignored in part. */
  readonly developerTerminal?: DeveloperTerminal;
  /** For how long requests waited before they were read, so that those that came too late are not begun. */
  readonly waiting?: Waiting;
}

export type Base = Awaited<ReturnType<typeof openBase>>;

/** What all else stands on: the settings, what is measured, and the store. */
export async function openBase(
  config: Config,
  clock: Clock,
  options: StartOptions,
  listener: HttpListener,
  resources: AsyncDisposableStack,
) {
  const { share } = options;
  const baseUrl = baseUrlOf(config, listener.port);
  const { hostname, pathname } = new URL(baseUrl);
  // What concerns the service as a whole is left to the process that comes first.
  const isFirst = share?.joins === undefined;
  const log = new LateLog();
  const metrics =
    (config.metricsAddress ?? config.telemetry?.metrics) &&
    (await import('./platform/metrics/metrics.ts')).createMetrics();
  const meter = metrics?.meter ?? unmetered;

  // Loaded on demand, and without it nothing is traced: see platform/telemetry/README.md.
  const telemetry =
    config.telemetry &&
    (await import('./platform/telemetry/telemetry.ts')).startTelemetry({
      settings: config.telemetry,
      process: share?.number,
      databaseSystem: config.databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgresql',
      registry: metrics?.registry,
      meter,
      changed(signal, cause) {
        if (cause === undefined) log.line('info', 'the collector takes telemetry again', { signal });
        else log.line('warn', 'the collector does not take telemetry', { signal, cause });
      },
    });
  const traced = telemetry?.traced;

  const meterOption = metrics && { meter: metrics.meter };
  const core = await openCore(config, clock, { ...options, ...meterOption, traced, checkStructure: isFirst });
  resources.defer(() => core.close());
  resources.defer(() => telemetry?.stop());
  metrics?.watch(core);
  if (metrics) share?.addMetrics(metrics);
  const ownAddress = share === undefined ? config.metricsAddress : undefined;
  const metricsListener = metrics && ownAddress && (await listenForMetrics(ownAddress, metrics));
  resources.defer(() => metricsListener?.close());
  return {
    ...{ config, clock, options, listener, resources, log, metrics, meter, telemetry, traced, core, isFirst, baseUrl },
    basePath: pathname.replace(/\/$/, ''),
    local: isLoopback(hostname),
    metricsPort: metricsListener?.port,
    draining: false,
  };
}

export type Domains = Awaited<ReturnType<typeof openDomains>>;

/** The domains, each with what it needs of the others. */
export async function openDomains({ config, clock, resources, log, meter, traced, core, ...base }: Base) {
  const { baseUrl, basePath, local } = base;
  const { database, ids, passwords, breaches, pictures, secret } = core;
  const clockWatch = await startClockWatch(database, clock);
  resources.defer(() => clockWatch.stop());
  const keys = await openKeys(database, { current: secret, previous: previousSecrets(config) }, clock);
  const { host } = new URL(baseUrl);
  const site: Site = { path: (path) => basePath + path, messages: en, host, contact: config.contact };
  const traces = openTraces(config.traceRetention !== null, {
    database,
    clock,
    dropped: meter.droppedSteps,
    failed: (error) => log.line('error', 'the steps of traces', { err: error }),
    terminal: config.development ? base.options.developerTerminal : undefined,
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
    sealer: await core.sealer(),
    mail: await core.mailer(),
    mailbox: config.mail.mailbox,
    signUp: config.signUp,
    secondFactor: config.secondFactor,
    signInCode: config.signInCode,
    trustedBrowsers: config.trustedBrowsers,
    passwords,
    breaches,
    pictures,
    limits: config.limits,
    registration: config.registration,
    issuer: baseUrl,
    site,
    local,
    browsers: browsers(baseUrl, deriveKey(secret, 'form tokens')),
    relyingParty: relyingPartyOf(baseUrl, deriveKey(secret, 'passkey challenges')),
    codeKey: deriveKey(secret, 'authorization codes'),
    userCodeKey: deriveKey(secret, 'user codes'),
    commandLineSignIn: config.commandLineSignIn,
    consoleSecondFactor: config.consoleSecondFactor,
    developers: config.developers,
    adminKey: await registerConfiguredAdminKey({ database, clock, ids }, config.adminKey),
    recordThrottled: throttledRecorder(database),
    traces,
    traceRetention: config.traceRetention,
    clientKeys: createClientKeys(send, clock, config.clientMetadata.domains),
    metadataClients: createMetadataClients({
      database,
      clock,
      limits: config.limits,
      setting: config.clientMetadata,
      documents: createMetadataDocuments(send, clock, config.clientMetadata.domains),
    }),
    outgoing: send,
    upstreams: createUpstreams({ database, clock, outgoing: send, local }),
    playgroundKey: deriveKey(secret, 'playground visits'),
    sendRequest: requestSender(base.listener, baseUrl),
  };
  return { services, clockWatch, send };
}
