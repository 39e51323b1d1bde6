import type { Config } from '../config/config.js';
import { createRetentionView, type RetentionView } from '../recovery/retention/retention-view.js';
import type { ObjectStore } from '../store/object-store.js';

/** What may have expired in a store. Nothing that a recovery would look for has. */
export function retentionViewOf({ retention, speech, recovery }: Config, store: ObjectStore): RetentionView {
  return createRetentionView(store, retention, Math.max(speech.retention, recovery.window));
}
