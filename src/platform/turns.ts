/** Waits for a turn, runs a task, and gives the turn back. */
export type Turn = <T>(task: () => Promise<T>) => Promise<T>;

/** Where nobody else wants a turn. */
export const AT_ONCE: Turn = (task) => task();

/** Hands out a fixed number of turns, in the order in which they are asked for. */
export class Turns<Holder> {
  #free: number;
  #waiting: { readonly holder: Holder; readonly grant: () => void }[] = [];
  readonly #held = new Map<Holder, number>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Calls `grant` when it is the turn of this request. */
  ask(holder: Holder, grant: () => void): void {
    this.#waiting.push({ holder, grant });
    this.#grantNext();
  }

  /** Takes one turn back. */
  giveBack(holder: Holder): void {
    this.#take(holder, 1);
  }

  /** Takes all turns of a holder back, and forgets those that it waits for. */
  forget(holder: Holder): void {
    this.#waiting = this.#waiting.filter((one) => one.holder !== holder);
    this.#take(holder, this.#held.get(holder) ?? 0);
    this.#held.delete(holder);
  }

  #take(holder: Holder, count: number): void {
    this.#held.set(holder, (this.#held.get(holder) ?? 0) - count);
    this.#free += count;
    this.#grantNext();
  }

  #grantNext(): void {
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#free--;
      this.#held.set(next.holder, (this.#held.get(next.holder) ?? 0) + 1);
      next.grant();
    }
  }
}
