import type { Worker } from 'node:cluster';

/** What `node:cluster` sends with a connection, and what it gets in return: https://github.com/nodejs/node/tree/main/lib/internal/cluster */
interface Internal {
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

/**
 * Notices the connections that a process was given and has not taken yet. `node:cluster` itself keeps them when the process ends, and
 * their clients would wait forever.
 * @returns what is called after the process has ended: gives them to others, or closes them where there are none
 */
export function watchHandover({ process: child }: Worker): (areOthers: boolean) => void {
  const untaken = new Set<unknown>();
  const { send } = child;
  Object.assign(child, {
    send(...parameters: Parameters<typeof send>) {
      const { act, seq } = parameters[0] as Internal;
      if (act === 'newconn') untaken.add(seq);
      return send.apply(child, parameters);
    },
  });
  child.on('internalMessage', ({ ack }: Internal) => untaken.delete(ack));
  return (areOthers) => {
    // As if the process had refused them, or had taken them, after which the supervisor closes its side.
    for (const ack of untaken) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: !areOthers });
  };
}
