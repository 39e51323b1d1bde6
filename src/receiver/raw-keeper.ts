/**
 * Keeps the raw bytes of a body while it is decoded, so that an undecodable one can go to quarantine. What it
 * keeps is paid for out of the delivery's budget, but never waited for: under pressure the raw body is the
 * first thing to be let go.
 */
export interface RawKeeper {
  /** To be told of every chunk of the body. */
  keep(chunk: Buffer): void;
  /** The whole raw body; or why it is not there. */
  result(): Buffer | 'over-cap' | 'no-memory';
  release(): void;
}

export interface KeepingAccount {
  tryKeep(bytes: number): boolean;
  giveBack(bytes: number): void;
}

/**
 * @param cap bytes that are kept at most
 * @param declared bytes the sender announced; what will exceed the cap is not begun with. Null when unknown
 */
export function createRawKeeper(
  account: KeepingAccount,
  cap: number,
  declared: number | null = null,
): RawKeeper {
  let chunks: Buffer[] = [];
  let kept = 0;
  let lost: 'over-cap' | 'no-memory' | null = declared !== null && declared > cap ? 'over-cap' : null;

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

  return { keep, result: () => lost ?? Buffer.concat(chunks), release: () => lose('no-memory') };
}
