import type { Config } from '../config/config.js';
import { createRetentionView, type RetentionView } from '../recovery/retention/retention-view.js';
import type { ObjectStore } from '../store/object-store.js';

/** The retention view of a store. Nothing that recovery could still fetch counts as expired. */
export function retentionViewOf({ retention, speech, recovery }: Config, store: ObjectStore): RetentionView {
  return createRetentionView(store, retention, Math.max(speech.retention, recovery.window));
}
