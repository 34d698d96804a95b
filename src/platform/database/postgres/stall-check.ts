/** For how long the primary may leave something unanswered before it is doubted, in milliseconds. */
const STALL = 100;

/**
 * Doubts a primary that did not answer for a while: it may have been halted or cut off, and a standby promoted, before it answers again.
 * What it answers then counts only if the other hosts were looked at after that, and none was promoted.
 */
export interface StallCheck {
  /**
   * Notes that something was sent to the primary.
   * @param telling whether it says something of the primary that this is not answered: a write may wait for a lock or a standby
   * @returns to be called when it was answered, or never will be; what that returns must be waited for before the answer counts
   */
  sent(telling: boolean): () => Promise<void> | undefined;
}

/** @param observe observes the other hosts, and makes it known if one was promoted */
export function createStallCheck(observe: () => Promise<void>, clock = (): number => performance.now()): StallCheck {
  /** When what has not been answered was sent, in this order. */
  const waiting = new Set<{ readonly at: number }>();
  let doubted = Number.NEGATIVE_INFINITY;
  /** When the latest look that has ended began. */
  let looked = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  async function lookOnce(): Promise<void> {
    const began = clock();
    await observe();
    looked = began;
    looking = undefined;
  }

  async function lookedSince(moment: number): Promise<void> {
    while (looked < moment) {
      looking ??= lookOnce();
      await looking;
    }
  }

  return {
    sent(telling) {
      const question = { at: clock() };
      if (telling) waiting.add(question);
      return () => {
        waiting.delete(question);
        const now = clock();
        const slow = now - question.at > STALL;
        const [oldest] = waiting;
        const stalled = oldest !== undefined && now - oldest.at > STALL;
        if (stalled || (telling && slow)) doubted = now;
        return slow || doubted > looked ? lookedSince(now) : undefined;
      };
    },
  };
}
