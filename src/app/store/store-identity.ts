import type { Logger } from '../../observe/logger.js';
import { issueOf } from '../../operations/issues/issue-kinds.js';
import type { ReportedIssue } from '../../operations/issues/issues.js';
import { type ObjectStore, OtherStoreError, StoreError, StoreGoneError } from '../../store/object-store.js';
import { rememberStore } from './known-stores.js';

export type StoreIdentity = ReturnType<typeof createStoreIdentity>;

/**
 * Watches the id of the store, so that an emptied or different bucket is reported instead of being filled silently.
 *
 * @param isPinned whether the configuration names the id that the store must have
 * @param cacheFolder directory with the ids of known stores; null without one
 */
export function createStoreIdentity(
  store: Pick<ObjectStore, 'location' | 'identity' | 'begin'>,
  isPinned: boolean,
  cacheFolder: string | null,
  log: Pick<Logger, 'warn'>,
) {
  let known: { readonly id: string; seenAt: string } | null = null;
  /** The store found last, if it is not the known one; its id is null without a marker. */
  let other: { readonly id: string | null } | null = null;
  let atStart: readonly ReportedIssue[] = [];

  function warn(fields: { store: string | null; before: { id: string; seenAt: string } }): void {
    log.warn(
      { event: 'store-replaced', ...fields },
      `${store.location} is another store than before: ${BRING_BACK}`,
    );
  }

  return {
    /** Marks a new store. Throws as `ObjectStore.begin` does. */
    async begin(): Promise<void> {
      const isNew = (await store.identity()) === null;
      const id = await store.begin();
      const { location } = store;
      known = { id, seenAt: new Date().toISOString() };
      if (isNew)
        log.warn(
          { event: 'store-begun', store: id },
          `nothing was stored at ${location} before: if something was, ${BRING_BACK}`,
        );
      const before = rememberStore(cacheFolder, { location, id, pinned: isPinned });
      if (before === null) return;
      atStart = [issueOf('store-replaced', { was: before.id, is: id, seenAt: before.seenAt })];
      warn({ store: id, before });
    },

    /** Reads the id again. Throws only `StoreGoneError` and `OtherStoreError`, for a store that is not the pinned one. */
    async check(): Promise<void> {
      if (known === null) return;
      const found = await store.identity().catch(notThisStore);
      if (found instanceof StoreError) throw found;
      if (found === UNKNOWN) return;
      if (found === known.id) {
        known.seenAt = new Date().toISOString();
        other = null;
        return;
      }
      if (other?.id !== found) warn({ store: found, before: known });
      other = { id: found };
    },

    issues(): readonly ReportedIssue[] {
      if (known === null || other === null) return atStart;
      return [issueOf('store-replaced', { was: known.id, is: other.id, seenAt: known.seenAt })];
    },
  };
}

const UNKNOWN = Symbol('unknown');

/** An unreadable marker proves nothing: the canary shows whether the store works. */
function notThisStore(error: unknown): typeof UNKNOWN | StoreError {
  return error instanceof StoreGoneError || error instanceof OtherStoreError ? error : UNKNOWN;
}

const BRING_BACK = 'bring it back (mount its volume, or correct store.url) and restart';
