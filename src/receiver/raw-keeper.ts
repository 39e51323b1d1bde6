/**
 * Keeps the raw bytes of a body while it is decoded, so that an undecodable one can go to quarantine. What it
 * keeps is paid for out of the delivery's budget, but never waited for: under pressure the raw body is the
 * first thing to be let go.
 */
export interface RawKeeper {
  /** Passes the body through, keeping what it sees. */
  tee(body: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /** The whole raw body; or why it is not there. */
  result(): Buffer | 'over-cap' | 'no-memory';
  release(): void;
}

export interface KeepingAccount {
  tryKeep(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export function createRawKeeper(account: KeepingAccount, cap: number): RawKeeper {
  let chunks: Buffer[] = [];
  let kept = 0;
  let lost: 'over-cap' | 'no-memory' | null = null;

  function lose(why: 'over-cap' | 'no-memory'): void {
    lost ??= why;
    chunks = [];
    if (kept > 0) account.giveBack(kept);
    kept = 0;
  }

  function keep(chunk: Buffer): void {
    if (lost !== null) return;
    if (kept + chunk.length > cap) return lose('over-cap');
    if (!account.tryKeep(chunk.length)) return lose('no-memory');
    chunks.push(chunk);
    kept += chunk.length;
  }

  function tee(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    return { [Symbol.asyncIterator]: () => teeing(body[Symbol.asyncIterator](), keep) };
  }

  return { tee, result: () => lost ?? Buffer.concat(chunks), release: () => lose('no-memory') };
}

/** By hand: an async generator between sender and decoder takes a turn of the event loop more for every chunk. */
function teeing(source: AsyncIterator<Buffer>, keep: (chunk: Buffer) => void): AsyncIterator<Buffer> {
  return {
    async next() {
      const result = await source.next();
      if (!result.done) keep(result.value);
      return result;
    },
    async return() {
      await source.return?.();
      return { value: undefined, done: true };
    },
  };
}
