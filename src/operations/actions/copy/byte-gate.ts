/** Runs work once this many bytes are free, in the order of calls. Work larger than the total waits until nothing else runs. */
export type ByteGate = <T>(bytes: number, work: () => Promise<T>) => Promise<T>;

/** Bounds the bytes that are in memory at a time. */
export function createByteGate(total: number): ByteGate {
  let free = total;
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  function admit(): void {
    for (let first = waiting[0]; first !== undefined && first.bytes <= free; first = waiting[0]) {
      free -= first.bytes;
      waiting.shift();
      first.enter();
    }
  }

  return async (wanted, work) => {
    const bytes = Math.min(wanted, total);
    await new Promise<void>((enter) => {
      waiting.push({ bytes, enter });
      admit();
    });
    try {
      return await work();
    } finally {
      free += bytes;
      admit();
    }
  };
}
