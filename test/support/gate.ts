/** Holds up work that is under way, until a test lets it go on. */
export interface Gate {
  /** Closes the gate for the next that comes; the others pass. */
  close(): void;
  /** Resolves when one stands before the gate. */
  readonly reached: Promise<void>;
  open(): void;
  /** Passes on a result once the gate is open. */
  pass<T>(result: T): Promise<T>;
}

export function gate(): Gate {
  let closed: { readonly reached: PromiseWithResolvers<void>; readonly opened: PromiseWithResolvers<void> } | undefined;
  let taken = false;
  return {
    close() {
      closed = { reached: Promise.withResolvers(), opened: Promise.withResolvers() };
      taken = false;
    },
    get reached() {
      return closed?.reached.promise ?? Promise.reject(new Error('the gate is open'));
    },
    open: () => closed?.opened.resolve(),
    async pass(result) {
      if (closed === undefined || taken) return result;
      taken = true;
      closed.reached.resolve();
      await closed.opened.promise;
      return result;
    },
  };
}
