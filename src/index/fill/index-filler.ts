/** Fills the index from the log. Calls reject with `StoreError` and `IndexError`; the next call continues. */
export interface IndexFiller {
  /** Adds new lines. */
  addNew(): Promise<void>;
  /** Adds older hours, newest first, until the index is complete. `addNew` may be called between two of its steps. */
  addOlder(): AsyncGenerator<void>;
  /** Makes the next `addNew` list the log, so that it finds new writers. */
  relist(): void;
}

/** Fills the index completely. */
export async function fillAll(filler: Omit<IndexFiller, 'relist'>): Promise<void> {
  await filler.addNew();
  for await (const _step of filler.addOlder());
}
