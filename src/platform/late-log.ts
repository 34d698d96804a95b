import type { FastifyBaseLogger } from 'fastify';
import { type LogFacts, type LogLineLevel, type LogMessage, logLine } from './log.ts';

/** The log, for what is opened before it: what is said until then is written when it is open. */
export class LateLog {
  #log: FastifyBaseLogger | undefined;
  readonly #waiting: ((log: FastifyBaseLogger) => void)[] = [];

  line<M extends LogMessage>(level: LogLineLevel<M>, message: M, facts: LogFacts<M>): void {
    const write = (log: FastifyBaseLogger) => logLine(log, level, message, facts);
    if (this.#log === undefined) this.#waiting.push(write);
    else write(this.#log);
  }

  open(log: FastifyBaseLogger): void {
    this.#log = log;
    for (const write of this.#waiting.splice(0)) write(log);
  }
}
