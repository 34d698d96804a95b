import { type Finding, ok, tabulate } from '../finding.ts';

/** A provider, and when its client secret ends; null where it does not. */
export interface EndingSecret {
  readonly name: string;
  readonly secretExpiresAt: number | null;
}

/** A provider that was asked, and what was found of it. */
export interface AskedProvider {
  readonly name: string;
  readonly steps: readonly {
    readonly step: string;
    readonly level: 'ok' | 'warning' | 'problem';
    readonly found: string;
  }[];
}

/** How long before the end of a secret there is a warning: time to make another one at the provider. */
const SOON = 30 * 24 * 60 * 60 * 1000;

/**
 * Whether people can go on signing in through other providers: a client secret that has ended stops it.
 * @param upstreams the active ones; undefined where they are not known
 */
export function judgeUpstreams(upstreams: readonly EndingSecret[] | undefined, now: number): Finding[] {
  const ending = (upstreams ?? []).filter(({ secretExpiresAt }) => (secretExpiresAt ?? Infinity) - SOON < now);
  const findings = ending.flatMap(({ name, secretExpiresAt }) => {
    const day = new Date(secretExpiresAt ?? 0).toISOString().slice(0, 10);
    const remedy = `Make another one at the provider, then: tessera upstream update ${name} --client-secret-stdin --secret-expires <date>`;
    const hasEnded = (secretExpiresAt ?? 0) <= now;
    return tabulate('upstreams', [
      [hasEnded && 'problem', `The client secret of ${name} ended on ${day}: nobody can sign in through it.`, remedy],
      [!hasEnded && 'warning', `The client secret of ${name} ends on ${day}.`, remedy],
    ]);
  });
  if (findings.length > 0 || upstreams === undefined || upstreams.length === 0) return findings;
  return [
    ok('upstreams', 'No client secret of a provider ends within 30 days. To check one: tessera upstream test <name>'),
  ];
}

/**
 * Whether the providers through which people sign in answer, publish keys, and accept this server. What one does not offer is told by
 * `tessera upstream test` alone: there is nothing to do about it here.
 * @param asked the active ones; undefined where they could not be asked
 */
export function judgeProviders(asked: readonly AskedProvider[] | undefined): Finding[] {
  if (asked === undefined || asked.length === 0) return [];
  const findings = asked.flatMap(({ name, steps }) => {
    const again = `Then: tessera upstream test ${name}`;
    return steps
      .filter(({ step, level }) => level === 'problem' || (level === 'warning' && step === 'client'))
      .flatMap(({ level, found }) =>
        tabulate('upstreams', [
          [level === 'problem' && level, `Nobody can sign in through ${name}: ${found}`, `Mend that. ${again}`],
          [level === 'warning' && level, `${name}: ${found}`, `Look at what the provider answers. ${again}`],
        ]),
      );
  });
  if (findings.length > 0) return findings;
  return [
    ok(
      'upstreams',
      `Each provider answers, publishes keys, and accepts this server: ${asked.map(({ name }) => name).join(', ')}.`,
    ),
  ];
}
