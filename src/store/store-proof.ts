/** What a probe of the store found; see `probe.ts`. */
export interface ProofReport {
  /** Whether writes came back as they were written. */
  readonly writable: boolean;
  /** Whether conditional writes and completions held under concurrency. */
  readonly exclusive: boolean;
  /** What is wrong, in words, one finding each. */
  readonly findings: readonly string[];
}

/** The store would let two deliveries overwrite each other, and nobody said that this is accepted. */
export class WeakStoreError extends Error {
  constructor(location: string, findings: readonly string[]) {
    super(
      `${location} does not keep first-write-wins: ${findings.join('; ')}. Use a store with atomic conditional ` +
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
  readonly probe: () => Promise<ProofReport>;
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
    if (!report.writable) throw new Error(report.findings.join('; '));
    if (!report.exclusive) {
      if (!options.acceptWeak) throw new WeakStoreError(options.location, report.findings);
      options.onTrouble(`weaker guarantee accepted: ${report.findings.join('; ')}`);
    }
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
