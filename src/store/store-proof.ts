import type { ProbeReport } from './probe.js';

/** The store would let two deliveries overwrite each other, and nobody said that this is accepted. */
export class WeakStoreError extends Error {
  constructor(location: string, findings: string) {
    super(
      `${location} does not keep first-write-wins: ${findings} Use a store with atomic conditional ` +
        'writes, or accept the weaker guarantee with store.s3.conditionalWrites: emulated.',
    );
    this.name = 'WeakStoreError';
  }
}

/** Knows whether the store has been proven fit; until then no delivery may be let in. */
export interface StoreProof {
  readonly proven: boolean;
  /** Why not proven, in words; null once it is. */
  readonly reason: string | null;
  /**
   * Probes; rejects with `WeakStoreError` when the store was found unfit. When it merely cannot be reached,
   * resolves and goes on trying, so that a replica that starts during an outage is there when it ends.
   */
  start(): Promise<void>;
  stop(): void;
}

export interface StoreProofOptions {
  readonly location: string;
  readonly probe: () => Promise<ProbeReport>;
  readonly acceptWeak: boolean;
  /** Milliseconds between attempts. */
  readonly retryAfter: number;
  /** Told of findings that were accepted, and of attempts that failed. */
  readonly onTrouble: (message: string, cause?: unknown) => void;
  /** A later attempt found the store unfit: the process must not go on. */
  readonly onUnfit: (error: WeakStoreError) => void;
}

export function createStoreProof(options: StoreProofOptions): StoreProof {
  let proven = false;
  let reason: string | null = 'the store has not been probed yet';
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function attempt(): Promise<void> {
    const report = await options.probe();
    const said = report.findings.join(' ');
    if (!report.writable) throw new Error(said);
    if (!report.trustworthy && options.acceptWeak) options.onTrouble(`weaker guarantee accepted: ${said}`);
    else if (isWeak(report)) throw new WeakStoreError(options.location, said);
    else if (!report.trustworthy) throw new Error(said);
    proven = true;
    reason = null;
  }

  async function tryOnce(): Promise<void> {
    try {
      await attempt();
    } catch (error) {
      if (error instanceof WeakStoreError) throw error;
      reason = error instanceof Error ? error.message : 'the store failed';
      options.onTrouble(`the store cannot be proven writable: ${reason}`, error);
      if (!stopped) timer = setTimeout(retry, options.retryAfter);
    }
  }

  function retry(): void {
    tryOnce().catch((error: unknown) => options.onUnfit(error as WeakStoreError));
  }

  return {
    get proven() {
      return proven;
    },
    get reason() {
      return reason;
    },
    start: tryOnce,
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** A store that answers with an error may only have trouble now; one that overwrites is unfit for good. */
function isWeak({ conditionalPut, conditionalComplete }: ProbeReport): boolean {
  return [conditionalPut, conditionalComplete].some((finding) => finding === 'ignored' || finding === 'racy');
}
