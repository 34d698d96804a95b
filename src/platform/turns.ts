/** Waits for a turn, runs a task, and gives the turn back. */
export type Turn = <T>(task: () => Promise<T>) => Promise<T>;

/** Where nobody else wants a turn. */
export const IMMEDIATELY: Turn = (task) => task();

/** Hands out a fixed number of turns, in the order in which they are asked for. */
export class Turns<Holder> {
  readonly #limit: number | undefined;
  #free: number;
  #waiting: { readonly holder: Holder; readonly grant: () => void }[] = [];
  /** For each turn that a holder has, the timer of its deadline. */
  readonly #held = new Map<Holder, (NodeJS.Timeout | undefined)[]>();
  /** How many turns were taken from a holder at their deadline, and not given back since. */
  readonly #late = new Map<Holder, number>();

  /**
   * @param limit how long a holder may keep a turn, in milliseconds. Then others get it, and the holder gets none before it gives that one
   * back: it may hang.
   */
  constructor(count: number, limit?: number) {
    this.#free = count;
    this.#limit = limit;
  }

  /** Calls `grant` when it is the turn of this request. */
  ask(holder: Holder, grant: () => void): void {
    this.#waiting.push({ holder, grant });
    this.#grantNext();
  }

  /** Takes one turn back. */
  giveBack(holder: Holder): void {
    const late = this.#late.get(holder) ?? 0;
    if (late > 1) this.#late.set(holder, late - 1);
    else if (late === 1) this.#late.delete(holder);
    else this.#take(holder);
    this.#grantNext();
  }

  /** Takes all turns of a holder back, and forgets those that it waits for. */
  forget(holder: Holder): void {
    this.#waiting = this.#waiting.filter((one) => one.holder !== holder);
    while (this.#take(holder));
    this.#late.delete(holder);
    this.#grantNext();
  }

  /** @returns whether the holder had one */
  #take(holder: Holder): boolean {
    const held = this.#held.get(holder);
    if (held === undefined) return false;
    clearTimeout(held.shift());
    if (held.length === 0) this.#held.delete(holder);
    this.#free++;
    return true;
  }

  #expire(holder: Holder): void {
    this.#take(holder);
    this.#late.set(holder, (this.#late.get(holder) ?? 0) + 1);
    this.#grantNext();
  }

  #grantNext(): void {
    while (this.#free > 0) {
      const index = this.#late.size === 0 ? 0 : this.#waiting.findIndex(({ holder }) => !this.#late.has(holder));
      const next = this.#waiting[index];
      if (next === undefined) return;
      this.#waiting.splice(index, 1);
      this.#free--;
      const { holder } = next;
      const timer = this.#limit === undefined ? undefined : setTimeout(() => this.#expire(holder), this.#limit).unref();
      const held = this.#held.get(holder);
      if (held === undefined) this.#held.set(holder, [timer]);
      else held.push(timer);
      next.grant();
    }
  }
}
