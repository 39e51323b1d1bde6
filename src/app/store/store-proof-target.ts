import type { Config } from '../../config/config.js';
import type { ObjectStore } from '../../store/object-store.js';
import { markCopyServed } from '../../store/probe/copy-mark.js';
import { probeStore } from '../../store/probe/probe-store.js';
import type { StoreProofTarget } from '../../store/probe/store-proof.js';

/** The proof that the configuration requires of the store. */
export function storeProofTarget({ store: { s3 } }: Config, store: ObjectStore): StoreProofTarget {
  return {
    location: store.location,
    probe: () => probeStore(store),
    acceptWeak: s3.conditionalWrites === 'emulated',
    async identify() {
      await store.begin();
      await markCopyServed(store);
    },
  };
}
