import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../test/support/api-call.ts';
import type { Service } from './service.ts';

/** What the first node says; undefined where it cannot be asked. */
async function ready({ front }: Service): Promise<number | undefined> {
  const [port] = front.targets;
  try {
    return (await call({ baseUrl: `http://127.0.0.1:${port}` }, 'GET', '/health/ready')).status;
  } catch {
    return undefined;
  }
}

/** How many answers in a row make a service that is back. */
const STEADY = 5;

/** Waits until the service says so many times that it cannot answer. */
export async function untilRefused(service: Service, times: number): Promise<void> {
  for (let refused = 0; refused < times; ) if ((await ready(service)) === 503) refused++;
}

/** Waits until the service answers again, and for good; answers how many milliseconds that took. */
export async function untilBack(service: Service): Promise<number> {
  const since = performance.now();
  let first = since;
  for (let answers = 0; answers < STEADY; ) {
    const begun = performance.now();
    if ((await ready(service)) !== 200) answers = 0;
    else if (++answers === 1) first = performance.now();
    if (performance.now() - since > 600_000) throw new Error('the service does not come back');
    await pause(Math.max(0, 20 - (performance.now() - begun)));
  }
  return first - since;
}
