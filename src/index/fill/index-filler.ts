/** Keeps the index like the log. Calls reject with `StoreError` and `IndexError`; the next one continues. */
export interface IndexFiller {
  /** Takes what is new. */
  takeNew(): Promise<void>;
  /** Takes what is older, newest hours first, until all is in. What is new may be taken between two of its steps. */
  older(): AsyncGenerator<void>;
  /** What is new is to be listed by its next read, of new writers as well. */
  relist(): void;
}

/** Takes everything that the index is to have. */
export async function fillAll(filler: Omit<IndexFiller, 'relist'>): Promise<void> {
  await filler.takeNew();
  for await (const _step of filler.older());
}
