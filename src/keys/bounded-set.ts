/** A set of texts that forgets the oldest ones beyond its capacity. */
export interface BoundedSet {
  has(text: string): boolean;
  add(text: string): void;
}

/** @param capacity how many texts it keeps */
export function boundedSet(capacity: number): BoundedSet {
  // The younger half takes what is new; once it is full it becomes the older one, and what was that is forgotten at once.
  const half = Math.ceil(capacity / 2);
  let [younger, older] = [new Set<string>(), new Set<string>()];
  return {
    has: (text) => younger.has(text) || older.has(text),
    add(text) {
      if (younger.size >= half) [younger, older] = [new Set(), younger];
      younger.add(text);
    },
  };
}
