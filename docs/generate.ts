import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { eventTypes } from '../src/audit/audit.ts';
import { eventFilters } from '../src/audit/schema.ts';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { program } from '../src/cli/program.ts';
import { variables } from '../src/platform/config/config.ts';
import { limitVariables } from '../src/platform/config/limits.ts';
import { createMetrics } from '../src/platform/metrics/metrics.ts';
import { errorCodes } from '../src/platform/oauth-error.ts';
import { metadata } from '../src/protocol/discovery/metadata.ts';
import { claims, scopes } from './claims-and-scopes.ts';
import { connectAnApp } from './connect-an-app.ts';
import { designSystem, IN_THE_REPOSITORY } from './design-system.ts';

const NOTE = '<!-- Made by `npm run docs`. Do not edit. -->';

function configuration(): string {
  const rows = [...Object.values(variables), ...Object.values(limitVariables)].map(
    ({ name, initial, about }) => `| \`${name}\` | ${initial} | ${about} |`,
  );
  return `${NOTE}

# Configuration

Everything is set by environment variables; \`tessera serve\` has flags for the most used. A wrong value is refused at the
start, with the name of the variable and the remedy, and so is a variable that begins with \`TESSERA_\` and is none of these.
Limits are written \`<count>/<s|m|h>\` or \`off\`.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

function metrics(): string {
  // The library's figures carry the names of their kind; which there are depends on the system.
  const own = createMetrics()
    .registry.getMetricsAsArray()
    .filter(({ name }) => name.startsWith('tessera_'))
    .map((metric) => {
      const labels = 'labelNames' in metric ? (metric.labelNames as readonly string[]) : [];
      return `| \`${metric.name}\` | ${metric.type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${metric.help} |`;
    });
  return `${NOTE}

# Figures

With \`TESSERA_METRICS_ADDRESS=127.0.0.1:9464\` each node answers \`GET /metrics\` there, in the text format of Prometheus. The
address has no password: keep it inside your network. Without the variable nothing is counted.

| Figure | Kind | Labels | Meaning |
|---|---|---|---|
${own.join('\n')}

A route is its pattern, \`none\` where there is none. The accepted credentials are the requests with status 200 at a route, the
refused ones are in \`tessera_refusals_total\` with the verdict's reason. Beside these stand the figures of the process:
\`nodejs_eventloop_lag_*\`, \`process_resident_memory_bytes\`, \`process_cpu_*\`, \`nodejs_gc_duration_seconds\` and others.

What to watch, and what it says:

| Watch | It says |
|---|---|
| \`tessera_http_request_duration_seconds_count{status=~"5.."}\` | faults (500), or a database that is away (503) |
| \`tessera_password_hashes{state="waiting"}\` | more sign-ins than the processors can hash |
| \`tessera_ready\` | 0: no load balancer should send requests here; the description at \`/health/ready\` says why |
| \`tessera_clock_offset_seconds\` | beyond a few seconds: nodes disagree about what has ended; beyond 30 the node is not ready |
| \`tessera_store_up\` | 0: the database is away or takes no writes; the log says since when and why |
| \`tessera_node_numbers_held\` | more than 500 of 1,024: processes that end again and again without a stop |
| \`tessera_database_waiting\` | a database that is slower than what is asked of it |
| \`nodejs_eventloop_lag_p99_seconds\` | a node that is at its limit: add another |
| \`tessera_refusals_total{reason="refresh token reused"}\` | stolen tokens, or a client that keeps the old one |
`;
}

function errors(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, [status, when, remedy]]) => `| \`${code}\` | ${status} | ${when} | ${remedy} |`,
  );
  return `${NOTE}

# Errors

Every error of the API is JSON, with \`Cache-Control: no-store\`:

<!-- not run: the form of every error, with gaps -->
\`\`\`json
{"error": "<code>", "error_description": "<text>"}
\`\`\`

| Code | Status | When | What to do |
|---|---|---|---|
${rows.join('\n')}

The authorization endpoint sends its errors to the redirect URI, with \`error\`, \`error_description\`, the unchanged \`state\`
and \`iss\`: \`invalid_request\`, \`unauthorized_client\`, \`access_denied\`, \`invalid_scope\`, \`server_error\`,
\`temporarily_unavailable\`; for those who named a \`resource\`, \`invalid_target\`; and, for those who sent the
[parameters](authorization.md) of OpenID Connect that they belong to,
\`login_required\`, \`consent_required\`, \`unmet_authentication_requirements\`, \`request_not_supported\`,
\`request_uri_not_supported\` and \`registration_not_supported\`. Where the client or the redirect URI is in doubt
nobody is redirected: the answer is a page with status 400, or JSON for a caller that asks for JSON.

Every answer has a correlation id in \`x-request-id\`, which pages show too; the log and the audit events tell of the request
under the same id. (What is no well-formed HTTP, or has a header beyond 96 KiB, is refused without one, and leaves no line.) Browsers get errors as pages wherever a page might be; under \`/api\`, \`/oidc\`, \`/.well-known\` and
\`/health\` an address where there is nothing, or a method that is not served, is JSON whatever is asked for.
`;
}

function events(): string {
  const rows = Object.entries(eventTypes).map(([type, meaning]) => `| \`${type}\` | ${meaning} |`);
  const filters = Object.entries(eventFilters).map(([name, { about }]) => `| \`${name}\` | ${about} |`);
  return `${NOTE}

# Events

Each change of security state and its event commit together. \`GET /api/v2/admin/audit-events\` lists them with the time, the
actor (\`user\`, \`client\`, \`admin\`, \`cli\`, \`system\` or \`anonymous\`), the user and client concerned, the address, the
request id, the outcome and details. No event holds a password, a secret, a code or a token. An act that
changed nothing leaves none.

No event holds the name or the email address of a user. When an account is deleted its events stay, with ids and IP addresses, for as long as
\`TESSERA_AUDIT_RETENTION\` says; the \`reason\` of its bans and suspensions becomes null, and \`erased\` names what was removed.
[What remains](../how-to/look-after-people.md#delete-an-account).

## Finding them

Every parameter may be left out; what is listed fits all that are given. \`since\` and \`until\` are instants with their offset, such as
\`2030-01-31T12:00:00Z\`. [\`tessera events\`](command-line.md#tessera-events) takes the
same as options, and [Find out what happened](../how-to/find-out-what-happened.md) says what to look for.

| Parameter | Which events |
|---|---|
${filters.join('\n')}
| \`order\` | Oldest first (\`asc\`, without it), or newest first (\`desc\`). |
| \`limit\`, \`cursor\` | As in [every list](admin-api.md). |

## Types

| Type | Meaning |
|---|---|
${rows.join('\n')}
`;
}

function commandLine(): string {
  const sections: string[] = [];
  const visit = (command: Command, path: string, depth: number): void => {
    const name = `${path} ${command.name()}`.trim();
    // A fixed width, whatever the terminal.
    command.configureHelp({ helpWidth: 110 });
    sections.push(`${'#'.repeat(depth)} \`${name}\`\n\n\`\`\`text\n${command.helpInformation().trim()}\n\`\`\``);
    for (const child of command.commands) visit(child, name, Math.min(depth + 1, 3));
  };
  const root = program();
  visit(root, '', 2);
  return `${NOTE}

# Command line

From a clone: \`npx tessera …\` or \`npm run tessera -- …\`. The commands work on the data directly, also while a server runs on
it; what they do binds the server's next request. \`--json\` prints JSON on standard output. [Exit codes](exit-codes.md).

${sections.join('\n\n')}
`;
}

function exits(): string {
  const rows = Object.values(exitCodes).map(([code, short, when]) => `| ${code} | ${short} | ${when} |`);
  return `${NOTE}

# Exit codes

Every command of \`tessera\`, the server included, ends with one of these. What is wrong stands on standard error, in words; with
\`--json\` as \`{"error": "<code>", "error_description": "<text>"}\`, with the codes of the [API](errors.md) and
\`invalid_configuration\`.

| Code | In short | When |
|---|---|---|
${rows.join('\n')}
`;
}

function discovery(): string {
  const document = JSON.stringify(metadata('https://id.example.com'), null, 2);
  return `${NOTE}

# Discovery and the key set

A standard OpenID Connect client needs the issuer, which is the base URL, and finds out the rest:

| Address | What |
|---|---|
| \`<base URL>/.well-known/openid-configuration\` | OpenID Connect Discovery 1.0 |
| \`<base URL>/.well-known/oauth-authorization-server\` | RFC 8414: the same document |
| \`<base URL>/.well-known/jwks.json\` | The public keys of ID tokens under RS256, ES256 and EdDSA (RFC 7517) |

For a base URL with a path, such as \`https://example.com/auth\`, RFC 8414 puts the well-known part before the path:
\`https://example.com/.well-known/oauth-authorization-server/auth\`. Both documents are served there too, where the proxy in
front passes those addresses on.

Any page may read all three. The documents may be cached for an hour and the key set for five minutes; a client that meets an
unknown \`kid\` reads it again. ID tokens under HS256 verify with the client's secret and have no key there.

With the base URL \`https://id.example.com\` the document is:

<!-- not run: it is made of the code -->
\`\`\`json
${document}
\`\`\`
`;
}

/** The pages that are made of the code, by their path from the repository's root. */
export const generated: Readonly<Record<string, () => string>> = {
  'docs/reference/configuration.md': configuration,
  'docs/reference/errors.md': errors,
  'docs/reference/events.md': events,
  'docs/reference/metrics.md': metrics,
  'docs/reference/command-line.md': commandLine,
  'docs/reference/exit-codes.md': exits,
  'docs/reference/discovery.md': discovery,
  'docs/reference/scopes.md': () => scopes(NOTE),
  'docs/reference/claims.md': () => claims(NOTE),
  'docs/how-to/connect-an-app.md': () => connectAnApp(NOTE),
  'docs/reference/design.html': () => designSystem(NOTE, IN_THE_REPOSITORY),
};

if (import.meta.main) {
  for (const [path, make] of Object.entries(generated)) {
    writeFileSync(new URL(`../${path}`, import.meta.url), make());
  }
}
