import type { Worker } from 'node:cluster';

/** What `node:cluster` sends with a connection, and what it gets in return: https://github.com/nodejs/node/tree/main/lib/internal/cluster */
interface Internal {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

/**
 * Notices the connections that a process was given and has not taken. `node:cluster` itself waits for an answer to each, and keeps it:
 *
 * - if the process ends, and the client would wait forever
 * - if the process has no room for another open file, and would be given no further connection. Its client is refused, as it is by one
 *   process
 * @param acceptedAt when the supervisor accepted a connection, which the process is told
 * @returns what is called after the process has ended: gives the connections to others, or closes them where there are none
 */
export function watchHandover(
  { process: child }: Worker,
  acceptedAt: (handle: unknown) => number,
): (areOthers: boolean) => void {
  const untaken = new Set<unknown>();
  const { send } = child;
  Object.assign(child, {
    send(...parameters: Parameters<typeof send>) {
      const [message, handle, ...rest] = parameters;
      const { act, seq } = message as Internal;
      if (act !== 'newconn') return send.apply(child, parameters);
      untaken.add(seq);
      return send.call(child, { ...(message as Internal), acceptedAt: acceptedAt(handle) }, handle, ...rest);
    },
  });
  /** Answers for the process: that it refuses them, or that it has taken them, after which the supervisor closes its side. */
  const answer = (accepted: boolean) => {
    // Those that it is given thereupon are not among them.
    for (const ack of [...untaken]) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted });
  };
  child.on('internalMessage', ({ cmd, ack }: Internal) => {
    untaken.delete(ack);
    if (cmd === 'NODE_HANDLE_NACK') answer(true);
  });
  return (areOthers) => answer(!areOthers);
}
