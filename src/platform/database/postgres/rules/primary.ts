/** Where a server is in the history of its cluster. */
export interface ClusterPosition {
  /** `system_identifier`: a primary and its standbys have the same. */
  readonly cluster: string;
  /** A promotion begins a new one, with the next number. */
  readonly timeline: number;
  /** How far its write-ahead log goes, in bytes. */
  readonly end: number;
}

/** What a host in the address of the database was found to be. */
export type Sighting =
  | { readonly kind: 'silent'; readonly host: string; readonly reason: string }
  | {
      readonly kind: 'server';
      readonly host: string;
      /** Why a start would refuse it although it is no standby, such as a version that is too old. */
      readonly unsuitable: string | undefined;
      readonly standby: boolean;
      /** Undefined where the server does not tell. */
      readonly position: ClusterPosition | undefined;
    };

/** Why a host is not the one to connect to. */
export interface Disbelief {
  readonly host: string;
  readonly reason: string;
}

export type Choice =
  | {
      readonly kind: 'primary';
      readonly host: string;
      readonly position: ClusterPosition;
      readonly others: Disbelief[];
    }
  | { readonly kind: 'none'; readonly others: Disbelief[] };

const STANDBY = 'is a standby, which takes no writes and may lag behind.';
export const TIMELINE_HIDDEN =
  'does not tell its timeline, so that a former primary could not be told from its successor. Let the user call pg_control_system() and pg_walfile_name(), or name one host alone.';

export const replaced = (timeline: number, latest: number): string =>
  `was replaced: it takes writes on timeline ${timeline}, and a standby was promoted to timeline ${latest}. ` +
  'Stop it, and rebuild it as a standby with pg_rewind or pg_basebackup.';

export const foreign = (cluster: string, known: string): string =>
  `belongs to another cluster (system identifier ${cluster}, expected ${known}). ` +
  'Take it out of TESSERA_DATABASE_URL; if the cluster itself was replaced, restart Tessera.';

/**
 * Chooses the primary among the hosts of the address: the one server that takes writes on the newest timeline that any of them, or
 * this process before, knows of. Two that do so on one timeline are a contradiction, and neither is believed.
 * @param known the position of the newest primary that this process has seen
 */
export function choosePrimary(sightings: readonly Sighting[], known: ClusterPosition | undefined): Choice {
  const servers = sightings.filter((one) => one.kind === 'server');
  const positions = servers.flatMap(({ position }) => position ?? []);
  const clusters = new Set(known === undefined ? positions.map(({ cluster }) => cluster) : [known.cluster]);
  const [cluster = ''] = clusters;
  const timelines = positions.filter((one) => one.cluster === cluster).map(({ timeline }) => timeline);
  const latest = Math.max(0, known?.timeline ?? 0, ...timelines);

  function disbelief(one: Sighting): string | undefined {
    if (one.kind === 'silent') return one.reason;
    if (one.unsuitable !== undefined) return one.unsuitable;
    if (one.position === undefined) return one.standby ? STANDBY : TIMELINE_HIDDEN;
    if (clusters.size > 1) {
      return `belongs to another cluster than other hosts do (system identifier ${one.position.cluster}). Name the hosts of one cluster.`;
    }
    if (one.position.cluster !== cluster) return foreign(one.position.cluster, cluster);
    if (one.standby) return STANDBY;
    if (one.position.timeline < latest) return replaced(one.position.timeline, latest);
    const rival = servers.find(
      (other) =>
        other !== one && !other.standby && other.position?.cluster === cluster && other.position.timeline === latest,
    );
    if (rival === undefined) return undefined;
    return `takes writes on timeline ${latest}, and ${rival.host} does, too. Stop the one that is not the primary.`;
  }

  const others: Disbelief[] = [];
  let primary: { host: string; position: ClusterPosition } | undefined;
  for (const one of sightings) {
    const reason = disbelief(one);
    if (reason !== undefined) others.push({ host: one.host, reason });
    else if (one.kind === 'server' && one.position !== undefined) primary = { host: one.host, position: one.position };
  }
  return primary === undefined ? { kind: 'none', others } : { kind: 'primary', ...primary, others };
}
