import { storeProofTarget } from '../../../app/store/store-proof-target.js';
import type { Config } from '../../../config/config.js';
import { type ObjectStore, OtherStoreError } from '../../../store/object-store.js';
import { proveStore, WeakStoreError } from '../../../store/probe/store-proof.js';

/** Throws for a store that would overwrite. A store that cannot be reached shows in the outcome of the work. */
export async function proveForWriting(config: Config, store: ObjectStore): Promise<void> {
  await proveStore(storeProofTarget(config, store)).catch((error: unknown) => {
    if (error instanceof WeakStoreError || error instanceof OtherStoreError) throw error;
  });
}
