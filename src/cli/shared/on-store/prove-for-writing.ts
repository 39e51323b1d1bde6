import { storeProofTarget } from '../../../app/store/store-proof-target.js';
import type { Config } from '../../../config/config.js';
import { createReplicaReportsReader, hasProof } from '../../../operations/health/replica-reports.js';
import { type ObjectStore, OtherStoreError } from '../../../store/object-store.js';
import { UnfinishedCopyError } from '../../../store/probe/copy-mark.js';
import { proveStore, WeakStoreError } from '../../../store/probe/store-proof.js';

const FINAL = [WeakStoreError, OtherStoreError, UnfinishedCopyError];

/**
 * Throws for a store that would overwrite, and for an unfinished copy. Does not throw for an unreachable store, which the work itself
 * reports. The 200 requests of the probe are skipped while a receiver proves the store.
 */
export async function proveForWriting(config: Config, store: ObjectStore): Promise<void> {
  const target = storeProofTarget(config, store);
  const isProven = await isProvenByReceiver(config, store).catch(() => false);
  await (isProven ? target.identify() : proveStore(target)).catch((error: unknown) => {
    if (FINAL.some((kind) => error instanceof kind)) throw error;
  });
}

/** Whether a receiver has a recent canary whose report has no failing issue. */
async function isProvenByReceiver(
  { store: { canaryInterval } }: Config,
  store: ObjectStore,
): Promise<boolean> {
  const { reports } = await createReplicaReportsReader(store, canaryInterval)();
  return reports.some(
    ({ writtenAt, report }) =>
      hasProof(store, writtenAt, canaryInterval) && Array.isArray(report) && !report.some(isFailing),
  );
}

function isFailing(issue: { readonly level?: unknown } | null): boolean {
  return issue?.level === 'failing';
}
