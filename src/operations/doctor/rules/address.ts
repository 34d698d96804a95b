import { DAY } from '../../../platform/clock.ts';
import { type Finding, ok, problem, tabulate, warning } from '../finding.ts';
import type { ProbeResponse } from '../http-probe.ts';
import type { Online } from '../online.ts';
import { answersLive, isElsewhere } from './answers.ts';

/** Whether users and apps can reach the service at its base URL, securely. */
export function judgeAddress(online: Online, now: number): Finding[] {
  const { baseUrl, unknownHost, live } = online;
  const { hostname, pathname } = new URL(baseUrl);
  const bad = (found: string, remedy: string): Finding[] => [problem('base-url', found, remedy)];
  if (unknownHost !== undefined) {
    return bad(
      `The host name ${hostname} cannot be resolved here (${unknownHost}).`,
      'Create a DNS record for it, or correct TESSERA_BASE_URL.',
    );
  }
  if (live.kind === 'silence') {
    return [
      warning(
        'base-url',
        `Nothing answers at ${baseUrl} (${live.reason}), so the online checks were skipped.`,
        'Start the server and run tessera doctor again, on a machine that can reach that URL.',
      ),
    ];
  }
  const trouble = certificateFindings(live, hostname, now);
  if (trouble.some(({ level }) => level === 'problem')) return trouble;
  if (isElsewhere(live)) {
    return bad(
      `A Tessera answers at ${baseUrl}, but not at the path ${pathname}: the proxy changes paths.`,
      `Configure the proxy to forward paths unchanged, including ${pathname.replace(/\/$/, '')}/health/live.`,
    );
  }
  if (live.status >= 300 && live.status < 400) {
    return bad(
      `${baseUrl} answers ${live.status} with a redirect to ${live.location ?? 'nowhere'}.`,
      'Set TESSERA_BASE_URL to the final URL, or remove the redirect.',
    );
  }
  if (live.status === 503 && live.text.includes('The service is starting.')) {
    return [warning('base-url', 'The service is starting.', 'Run tessera doctor again when it is ready.')];
  }
  if (live.status >= 502 && live.status <= 504) {
    return bad(
      `The proxy at ${baseUrl} answers ${live.status}: it does not reach the service.`,
      'Start the server, and configure the proxy to forward requests to TESSERA_HOST and TESSERA_PORT.',
    );
  }
  if (!answersLive(live)) {
    return bad(
      `Another service answers at ${baseUrl}: ${baseUrl}/health/live returns ${live.status}.`,
      'Correct TESSERA_BASE_URL, or configure the proxy to forward this URL to Tessera.',
    );
  }
  const findings = [...trouble, ...plainFindings(online), ...serviceFindings(online)];
  return [ok('base-url', `Tessera answers at ${baseUrl}.`), ...findings];
}

function certificateFindings({ tls }: ProbeResponse, hostname: string, now: number): Finding[] {
  if (tls === undefined) return [];
  if (tls.trouble !== undefined) {
    return [
      problem(
        'base-url',
        `The certificate of ${hostname} is not trusted here: ${tls.trouble}.`,
        'Install a valid certificate for this name with its full chain. For a private certificate authority, set ' +
          'NODE_EXTRA_CA_CERTS to its certificate.',
      ),
    ];
  }
  const days = Math.floor((tls.validTo - now) / DAY);
  if (days >= 14) return [ok('base-url', `The certificate of ${hostname} is valid for ${days} more days.`)];
  return [
    warning(
      'base-url',
      `The certificate of ${hostname} is valid for only ${days} more ${days === 1 ? 'day' : 'days'}.`,
      'Renew it, and find out why it was not renewed automatically.',
    ),
  ];
}

function plainFindings({ plain, baseUrl }: Online): Finding[] {
  if (plain === undefined) return [];
  if (plain.kind === 'silence') return [ok('base-url', `Nothing answers there without TLS (${plain.reason}).`)];
  if (plain.status >= 300 && plain.status < 400 && (plain.location ?? '').startsWith(new URL(baseUrl).origin)) {
    return [ok('base-url', `http is redirected to ${new URL(baseUrl).origin}.`)];
  }
  const found = `http is not redirected to https: it answers ${plain.status}.`;
  const remedy = 'Configure the proxy to redirect all http requests to https.';
  return [answersLive(plain) ? problem('base-url', found, remedy) : warning('base-url', found, remedy)];
}

function serviceFindings({ ready, seen, baseUrl }: Online): Finding[] {
  const isReady = ready?.kind === 'answer' && ready.status === 200;
  return tabulate('base-url', [
    [
      !isReady && 'problem',
      `The service is running but not ready: ${baseUrl}/health/ready ${ready?.kind === 'answer' ? `answers ${ready.status}` : 'does not answer'}.`,
      'Look in its log. Most often it cannot reach its database.',
    ],
    [
      seen !== undefined && seen.baseUrl !== baseUrl && 'problem',
      `The service that answers at ${baseUrl} runs with the base URL ${seen?.baseUrl}.`,
      'Set the same TESSERA_BASE_URL for the server and this command, and restart the server.',
    ],
  ]);
}
