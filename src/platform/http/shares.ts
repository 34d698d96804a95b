/** How much one sharer may hold at a time, such as `address 192.0.2.1`. */
export interface Share {
  readonly sharer: string;
  readonly most: number;
}

/** Why nothing is given: a sharer holds as much as it may, or all of them together do. */
export type Exhausted = 'share' | 'total';

/** Something of which there is only so much in a process, and of which every sharer has a part at most. */
export interface Shares {
  /** @returns what gives it back, of which only the first call counts; or why there is nothing to take */
  take(amount: number, of: readonly Share[]): (() => void) | Exhausted;
}

export function shares(total: number): Shares {
  let held = 0;
  const bySharer = new Map<string, number>();

  function add(amount: number, of: readonly Share[]): void {
    held += amount;
    for (const { sharer } of of) {
      const sum = (bySharer.get(sharer) ?? 0) + amount;
      if (sum === 0) bySharer.delete(sharer);
      else bySharer.set(sharer, sum);
    }
  }

  return {
    take(amount, of) {
      if (of.some(({ sharer, most }) => (bySharer.get(sharer) ?? 0) + amount > most)) return 'share';
      if (held + amount > total) return 'total';
      add(amount, of);
      let taken = amount;
      return () => {
        if (taken !== 0) add(-taken, of);
        taken = 0;
      };
    },
  };
}
