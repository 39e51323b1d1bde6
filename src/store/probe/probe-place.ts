import type { ObjectHeaders, PendingUpload } from '../object-store.js';
import type { BoundedStore } from './with-call-deadlines.js';

/** Where the probe writes, and what it removes afterwards. */
export interface ProbePlace {
  readonly store: BoundedStore;
  /** Ends in `/`. */
  readonly folder: string;
  readonly headers: ObjectHeaders;
  newKey(name: string): string;
  readonly uploads: PendingUpload[];
}
