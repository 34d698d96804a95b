import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type SecondFactorSetting, secondFactorVariable } from '../accounts/second-factor-setting.ts';
import { readSignInCode, signInCodeVariables } from '../accounts/sign-in-code-setting.ts';
import { readSignUpSettings, type SignUpSettings, signUpVariables } from '../accounts/sign-up-setting.ts';
import { type DeveloperSettings, developerVariables } from '../clients/developer-settings.ts';
import { discoveryScopes } from '../clients/discovery-scopes.ts';
import {
  type ClientMetadataSetting,
  clientMetadataVariables,
  readClientMetadata,
} from '../clients/metadata-setting.ts';
import { type RegistrationSetting, registrationVariable } from '../clients/registration-setting.ts';
import { type Limits, limitNames, limitVariables } from '../limits/settings.ts';
import { consoleSecondFactor } from '../operators/console-setting.ts';
import { DAY } from '../platform/clock.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { contact } from '../platform/config/contact.ts';
import { listenHost, type MetricsAddress, metricsAddress } from '../platform/config/listen.ts';
import { LOG_LEVELS, type LogLevel, logLevel } from '../platform/config/log-level.ts';
import { isLoopback } from '../platform/config/loopback.ts';
import { type MailSettings, mailVariables, readMailSettings } from '../platform/config/mail.ts';
import { networks, trustProxy } from '../platform/config/networks.ts';
import { passwordBreaches } from '../platform/config/password-breaches.ts';
import { processesVariable } from '../platform/config/processes.ts';
import { days, flag, onOff } from '../platform/config/readings.ts';
import { commandLineSignIn, remoteVariables } from '../platform/config/remote.ts';
import { adminKey, parsePreviousSecret, parseSecret } from '../platform/config/secrets.ts';
import { withoutServiceLinks } from '../platform/config/service-links.ts';
import { readTelemetrySettings, type TelemetrySettings, telemetryVariables } from '../platform/config/telemetry.ts';
import { type ToldSetting, toldSettings } from '../platform/config/told-settings.ts';
import { type Reading, unknownSettings, Variable } from '../platform/config/variable.ts';
import { fileVariables, withFiles } from '../platform/config/variable-files.ts';
import { readServerAddress } from '../platform/database/server-address.ts';
import type { TrustProxy } from '../platform/validation/origin.ts';

/** All settings, read and validated once, before anything else happens. */
export interface Config {
  /** Every setting with where it comes from, for operators. */
  readonly told: readonly ToldSetting[];
  /** The public URL of the service without a trailing slash; also the issuer identifier. */
  readonly baseUrl: string | undefined;
  readonly host: string;
  readonly port: number;
  /** How many processes share the port. */
  readonly processes: number;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly secret: string | undefined;
  readonly secretFile: string | undefined;
  readonly previousSecret: string | undefined;
  readonly adminKey: string | undefined;
  /** What opens the mailbox; undefined for a key that follows from the secret. */
  readonly mailboxKey: string | undefined;
  readonly trustProxy: TrustProxy;
  readonly logLevel: LogLevel;
  /** Where Prometheus reads the metrics; undefined if they are not served. */
  readonly metricsAddress: MetricsAddress | undefined;
  /** Networks besides the public internet that the server may send requests to. */
  readonly outgoingAllow: readonly string[];
  /** How long a stopping node still answers while it reports to load balancers that it is not ready, in seconds. */
  readonly drainSeconds: number;
  readonly hashingConcurrency: number;
  /** Whom people and developers ask for help: an email address or an https URL. */
  readonly contact: string | undefined;
  /** Scopes of APIs that the discovery document lists. */
  readonly discoveryScopes: readonly string[];
  /** Whether the terminal shows each request of an app that is refused, or ignored in part. */
  readonly development: boolean;
  /** Which apps may identify themselves by the URL of a metadata document. */
  readonly clientMetadata: ClientMetadataSetting;
  /** Which apps may register themselves. */
  readonly registration: RegistrationSetting;
  /** Whether developers can try the flow at `/playground`. */
  readonly playground: boolean;
  readonly secondFactor: SecondFactorSetting;
  /** Whether people can sign in with a code by mail. */
  readonly signInCode: boolean;
  /** Whether operators can sign in with the command line. */
  readonly commandLineSignIn: boolean;
  /** Whether operators need a second factor in the console. */
  readonly consoleSecondFactor: boolean;
  /** Who registers apps of their own as a developer, and how many. */
  readonly developers: DeveloperSettings;
  /** For how long a browser that a person trusts is not asked for the second factor, in milliseconds; null where that is not offered. */
  readonly trustedBrowsers: number | null;
  /** The age at which a signing key is rotated, in milliseconds; null for no automatic rotation. */
  readonly keyRotation: number | null;
  /** The address of a service that knows breached passwords, to which part of a hash is appended; null asks none. */
  readonly passwordBreaches: string | null;
  /** For how long audit events are kept, in milliseconds; null keeps them forever. */
  readonly auditRetention: number | null;
  /** For how long the steps of authorizations are kept, in milliseconds; null records none. */
  readonly traceRetention: number | null;
  /** Where traces and metrics are sent to; undefined where telemetry is off. */
  readonly telemetry: TelemetrySettings | undefined;
  readonly mail: MailSettings;
  readonly signUp: SignUpSettings;
  readonly limits: Limits;
}

const text = (value: string): Reading<string> => ({ value });

const positiveInteger =
  (most: number, least = 1) =>
  (value: string): Reading<number> => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return { value: number };
    return { problem: `must be a whole number from ${least} to ${most}` };
  };

function baseUrl(value: string): Reading<string> {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: 'must be an absolute URL, for example https://login.example.com' };
  }
  if (url.search || url.hash || url.username || url.password) {
    return { problem: 'must have no query, fragment, user name or password' };
  }
  return { value: (url.origin + url.pathname).replace(/\/+$/, '') };
}

function databaseUrl(value: string): Reading<string> {
  if (value.startsWith('sqlite:') && value.length > 'sqlite:'.length) return { value };
  const address = readServerAddress(value);
  return 'problem' in address ? address : { value };
}

/** All variables, in the order of the reference page. */
export const variables = {
  baseUrl: new Variable('TESSERA_BASE_URL', baseUrl, {
    initial: '`http://localhost:<port>`',
    about:
      'The public URL of the server; also the issuer identifier. `http` is accepted only on a loopback host, unless allowed.',
  }),
  allowHttp: new Variable('TESSERA_ALLOW_HTTP', flag, {
    initial: '`0`',
    about: 'Accepts a base URL with `http` on any host. Only for tests in a closed network.',
  }),
  host: new Variable('TESSERA_HOST', listenHost, { initial: '`127.0.0.1`', about: 'The address to listen on.' }),
  port: new Variable('TESSERA_PORT', positiveInteger(65535, 0), {
    initial: '`3000`',
    about: 'The port to listen on; `0` selects a free one.',
  }),
  processes: processesVariable,
  databaseUrl: new Variable('TESSERA_DATABASE_URL', databaseUrl, {
    initial: '`sqlite:<data dir>/tessera.db`',
    about:
      'The database: `sqlite:<path>` or `postgres://<user>:<password>@<host>/<database>`, with several hosts for [fail-over](../how-to/use-postgresql.md#fail-over) as `<host>:<port>,<host>:<port>`.',
  }),
  dataDir: new Variable('TESSERA_DATA_DIR', text, {
    initial: '`./data`',
    about: 'The folder of the embedded database and its secret; created if it does not exist.',
  }),
  secret: new Variable('TESSERA_SECRET', parseSecret, {
    initial: 'created on the first start',
    about:
      'The root secret that all keys are derived from or encrypted with: at least 43 random characters. With the embedded database it is created in `<data dir>/secret`.',
  }),
  secretFile: new Variable('TESSERA_SECRET_FILE', text, {
    initial: '`<data dir>/secret`',
    about: 'A file that contains the secret, instead of `TESSERA_SECRET`.',
  }),
  previousSecret: new Variable('TESSERA_SECRET_PREVIOUS', parsePreviousSecret, {
    initial: 'none',
    about: 'The previous secret, while it is being replaced: what it encrypted is encrypted again with the new one.',
  }),
  adminKey: new Variable('TESSERA_ADMIN_KEY', adminKey, {
    initial: 'none',
    about:
      'An admin key of 32 to 512 random characters, valid while it is set. Set the same one for all nodes: unused invitations and recovery links that were made with it end when a node starts with another one, or with none. `tessera admin-key create` creates permanent keys.',
  }),
  trustProxy: new Variable('TESSERA_TRUST_PROXY', trustProxy, {
    initial: '`off`',
    about:
      'The proxies that are trusted to report the client’s address in `X-Forwarded-For`: their number, or their addresses.',
  }),
  logLevel: new Variable('TESSERA_LOG_LEVEL', logLevel, {
    initial: '`info`',
    about: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
  }),
  metricsAddress: new Variable('TESSERA_METRICS_ADDRESS', metricsAddress, {
    initial: '`off`',
    about: 'The `<address>:<port>` that serves `GET /metrics` to Prometheus. Do not expose it to the internet.',
  }),
  outgoingAllow: new Variable('TESSERA_OUTGOING_ALLOW', networks, {
    initial: 'none',
    about:
      'Networks besides the public internet that the server may send requests to (back-channel logout, `jwksUri`), such as `10.0.0.0/8`. Two kinds of apps cannot use these networks: apps that registered themselves without an initial access token, and apps with a metadata document at a domain that `TESSERA_CLIENT_METADATA_DOMAINS` does not list. With a base URL on a loopback host, all addresses are allowed.',
  }),
  drainSeconds: new Variable('TESSERA_DRAIN_SECONDS', positiveInteger(300, 0), {
    initial: '`0`; with PostgreSQL `5`',
    about:
      'After SIGTERM, `/health/ready` returns 503 immediately, and the node still answers requests for this many seconds, until load balancers have noticed.',
  }),
  hashingConcurrency: new Variable('TESSERA_HASHING_CONCURRENCY', positiveInteger(64), {
    initial: 'processors − 1, at least 1',
    about:
      'How many passwords are hashed at the same time, by all processes of a service together. Others wait; when the queue is full, sign-in returns 503.',
  }),
  passwordBreaches: new Variable('TESSERA_PASSWORD_BREACHES', passwordBreaches, {
    initial: '`off`',
    about:
      'Whether new passwords are looked for in known data breaches: `hibp` asks Have I Been Pwned, and a URL another service with its range API. It learns five digits of a hash, never the password; where it does not answer, the password is accepted.',
  }),
  secondFactor: secondFactorVariable,
  trustedBrowsers: new Variable('TESSERA_TRUSTED_BROWSERS', days, {
    initial: '`30d`',
    about:
      'For how many days people can choose not to be asked for a second factor in a browser; `off` offers no choice.',
  }),
  keyRotation: new Variable('TESSERA_KEY_ROTATION', days, {
    initial: '`90d`',
    about:
      'The age at which signing keys are rotated automatically, in days; with `off`, only `tessera keys` rotates them.',
  }),
  auditRetention: new Variable('TESSERA_AUDIT_RETENTION', days, {
    initial: '`400d`',
    about:
      'For how many days audit events are kept, such as `90d`; `off` keeps them forever. Older events are removed and cannot be recovered; each removal is an event itself.',
  }),
  contact: new Variable('TESSERA_CONTACT', contact, {
    initial: 'none',
    about:
      'Whom people and developers ask for help: an email address or an `https` URL. Shown on error pages, below the forms that sign in, where an account cannot sign in, and in every mail. Without it, those that need somebody name the operator of the host of `TESSERA_BASE_URL`.',
  }),
  discoveryScopes: new Variable('TESSERA_DISCOVERY_SCOPES', discoveryScopes, {
    initial: 'none',
    about:
      'Scopes of APIs that the discovery document lists, separated by commas, such as `notes.read,notes.write`. Anybody can read it; apps can use scopes that it does not list.',
  }),
  ...clientMetadataVariables,
  registration: registrationVariable,
  traceRetention: new Variable('TESSERA_TRACE_RETENTION', days, {
    initial: '`1d`',
    about:
      'For how many days the steps of authorizations are kept for `tessera explain`, such as `3d`, and at most a bounded number of the newest for each app; `off` records none.',
  }),
  development: new Variable('TESSERA_DEVELOPMENT', onOff, {
    initial: '`on` for a base URL on a loopback host, else `off`',
    about:
      'Whether the server prints one readable line for each request of an app that is refused or ignored in part, with the remedy and the command that explains it. It changes no response.',
  }),
  playground: new Variable('TESSERA_PLAYGROUND', onOff, {
    initial: '`on` for a base URL on a loopback host, else `off`',
    about: 'Whether `/playground` lets developers try the flow with a temporary app; with `off` it returns 404.',
  }),
  ...mailVariables,
  ...signUpVariables,
  ...signInCodeVariables,
  ...telemetryVariables,
  commandLineSignIn,
  consoleSecondFactor,
  ...developerVariables,
  ...fileVariables,
  ...remoteVariables,
} as const;

/**
 * Reads the configuration.
 * @param given the environment variables of the process, overridden by the flags of the command line
 * @throws {ConfigError} that names every invalid variable with its remedy
 */
export function readConfig(given: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const environment = withFiles(withoutServiceLinks(given), problems);
  const read = <T>(variable: Variable<T>): T | undefined => variable.read(environment, problems);

  const dataDir = resolve(read(variables.dataDir) ?? 'data');
  const base = read(variables.baseUrl);
  const allowHttp = read(variables.allowHttp) ?? false;
  if (base !== undefined && !allowHttp && new URL(base).protocol === 'http:' && !isLoopback(new URL(base).hostname)) {
    problems.push(
      `${variables.baseUrl.name} is ${base}, and http on a host other than loopback exposes cookies and tokens to the network. ` +
        `Use https, or set ${variables.allowHttp.name}=1 if that is intended.`,
    );
  }
  const local = base === undefined || isLoopback(new URL(base).hostname);
  const development = read(variables.development) ?? local;
  const playground = read(variables.playground) ?? local;
  if (playground && !local && new URL(base).protocol === 'http:') {
    problems.push(
      `${variables.playground.name} is on, but no app can be registered at ${base}: ` +
        'redirect URIs are https, or http on a loopback host. Use https, or set it to off.',
    );
  }
  const breaches = read(variables.passwordBreaches) ?? null;
  if (breaches !== null && !local && new URL(breaches).protocol === 'http:') {
    problems.push(`${variables.passwordBreaches.name} must be an https URL: http is for tests on one machine.`);
  }
  const processes = read(variables.processes) ?? 1;
  const url = read(variables.databaseUrl) ?? `sqlite:${resolve(dataDir, 'tessera.db')}`;
  // Null means that the limit is off.
  const limitOf = (limit: unknown, fallback: unknown) => (limit === undefined ? fallback : limit);
  const limits: unknown = Object.fromEntries(
    limitNames.map((name) => [name, limitOf(read(limitVariables[name]), limitVariables[name].fallback)]),
  );

  const rotation = read(variables.keyRotation);
  const trusted = read(variables.trustedBrowsers);
  const traceRetention = read(variables.traceRetention);
  const auditRetention = read(variables.auditRetention);
  const trustProxy = read(variables.trustProxy) ?? false;
  const mail = readMailSettings(environment, problems, { local, proxied: trustProxy !== false });
  read(remoteVariables.server); // Only for its mistakes: commands use it.

  const config: Config = {
    told: toldSettings({ ...variables, ...limitVariables }, given, environment),
    baseUrl: base,
    host: read(variables.host) ?? '127.0.0.1',
    port: read(variables.port) ?? DEFAULT_PORT,
    processes,
    databaseUrl: url,
    dataDir,
    secret: read(variables.secret),
    secretFile: read(variables.secretFile),
    previousSecret: read(variables.previousSecret),
    adminKey: read(variables.adminKey),
    mailboxKey: read(variables.mailboxKey),
    trustProxy,
    logLevel: read(variables.logLevel) ?? 'info',
    metricsAddress: read(variables.metricsAddress),
    outgoingAllow: read(variables.outgoingAllow) ?? [],
    drainSeconds: read(variables.drainSeconds) ?? (url.startsWith('sqlite:') ? 0 : 5),
    hashingConcurrency: read(variables.hashingConcurrency) ?? Math.max(1, availableParallelism() - 1),
    secondFactor: read(variables.secondFactor) ?? 'offered',
    trustedBrowsers: trusted === undefined ? 30 * DAY : trusted,
    commandLineSignIn: read(commandLineSignIn) ?? true,
    consoleSecondFactor: read(consoleSecondFactor) ?? true,
    developers: { policy: read(variables.developers) ?? 'off', mostApps: read(variables.developerApps) ?? 20 },
    // Null means that keys are not rotated automatically.
    keyRotation: rotation === undefined ? 90 * DAY : rotation,
    passwordBreaches: breaches,
    auditRetention: auditRetention === undefined ? 400 * DAY : auditRetention,
    contact: read(variables.contact),
    discoveryScopes: read(variables.discoveryScopes) ?? [],
    clientMetadata: readClientMetadata(environment, problems),
    registration: read(variables.registration) ?? 'off',
    traceRetention: traceRetention === undefined ? DAY : traceRetention,
    development,
    playground,
    telemetry: readTelemetrySettings(environment, problems),
    mail,
    signUp: readSignUpSettings(environment, problems, mail),
    signInCode: readSignInCode(environment, problems, mail),
    limits: limits as Limits,
  };
  problems.push(...contradictions(config, given[variables.previousSecret.name] ?? config.previousSecret));
  problems.push(...unknownSettings(environment, known));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** What two settings say that cannot both hold. */
function contradictions(
  { processes, databaseUrl, secret, secretFile }: Config,
  previousSecret: string | undefined,
): readonly string[] {
  const { processes: many, secret: root, secretFile: file, previousSecret: previous } = variables;
  const found = [
    processes > 1 &&
      databaseUrl === 'sqlite::memory:' &&
      `${many.name} asks for ${processes} processes, and each would have a database in memory of its own. Set it to 1, or use a file.`,
    secret !== undefined &&
      secretFile !== undefined &&
      `${root.name} and ${file.name} are both set. Remove one of them.`,
    secret !== undefined &&
      secret === previousSecret &&
      `${previous.name} equals ${root.name}. Remove it, or set it to the old secret.`,
  ];
  return found.filter((text) => text !== false);
}

const known = new Set<string>([...Object.values(variables), ...Object.values(limitVariables)].map(({ name }) => name));

/** Where the server listens unless it is told. */
export const DEFAULT_PORT = 3000;

/** The base URL, which defaults to this machine. */
export const baseUrlOf = ({ baseUrl }: Config, port: number): string => baseUrl ?? `http://localhost:${port}`;
