import { SECOND } from './clock.ts';

// A service is given ten seconds to stop, after its drain: see docs/how-to/use-postgresql.md. Each part of a stop ends before the next.

/** How long running requests are waited for. Longer than any of them waits for the database. */
export const REQUESTS_TIMEOUT = 7 * SECOND;

/** How long the whole stop may take. The rest is for the last lines of the log, and for the system to end the process. */
export const STOP_TIMEOUT = 9 * SECOND;

/** How much earlier a process ends that has a supervisor. */
export const SHARE_OF_SUPERVISOR = SECOND / 2;

/** How long a process may take to say that it has been told to stop. One that hangs never does. */
export const ACKNOWLEDGEMENT_TIMEOUT = 3 * SECOND;
