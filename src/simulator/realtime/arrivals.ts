/** A list that can be waited on. */
export interface Arrivals<T> {
  readonly all: readonly T[];
  add(value: T): void;
  /** Settles with the n-th value (from 0) as soon as it is there. */
  nth(index: number): Promise<T>;
}

export function createArrivals<T>(): Arrivals<T> {
  const all: T[] = [];
  const waiting = new Map<number, ((value: T) => void)[]>();
  return {
    all,
    add(value) {
      all.push(value);
      for (const resolve of waiting.get(all.length - 1) ?? []) resolve(value);
      waiting.delete(all.length - 1);
    },
    nth: (index) =>
      new Promise((resolve) => {
        const value = all[index];
        if (value === undefined) waiting.set(index, [...(waiting.get(index) ?? []), resolve]);
        else resolve(value);
      }),
  };
}
