import { LEDGER_FOLDER, mergedFolder, sentFolder } from '../../ledger/ledger-keys.js';
import { sentFolders } from '../../ledger/log/log-hours.js';
import type { ObjectStore } from '../../store/object-store.js';

/**
 * The folders whose segments the index has: the ledger, and what was sent to each subscriber. Nobody needs the latter while nobody looks, so
 * that a replica at rest does not ask for it.
 */
export interface FollowedFolders {
  /** Folders of segments that are asked for at present. */
  current(): readonly string[];
  /** All folders of segments. */
  all(): readonly string[];
  /** All folders of hours. */
  roots(): readonly string[];
  /** Lists the subscribers, at most once a minute. Resolves to whether more is asked for from now on. Throws `StoreError`. */
  look(isLookedAt: boolean): Promise<boolean>;
}

/** Milliseconds between listings of subscribers. */
const RELIST = 60_000;

/** @param subscribers are followed before anything was sent to them: others are found within a minute */
export function createFollowedFolders(
  store: ObjectStore,
  now: () => number,
  subscribers: readonly string[] = [],
): FollowedFolders {
  let sent: readonly string[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;
  let isAsked = false;

  const all = () => [LEDGER_FOLDER, ...sent];
  return {
    current: () => (isAsked ? all() : [LEDGER_FOLDER]),
    all,
    roots: () => all().flatMap((folder) => [folder, mergedFolder(folder)]),
    async look(isLookedAt) {
      const before = isAsked ? sent.length : 0;
      isAsked = isLookedAt;
      // Older hours are taken whether somebody looks or not.
      const isDue = !Number.isFinite(listedAt) || (isAsked && Math.abs(now() - listedAt) >= RELIST);
      if (isDue) {
        const found = new Set(subscribers.map(sentFolder));
        for await (const folder of sentFolders(store)) found.add(folder);
        sent = [...found];
        listedAt = now();
      }
      return isAsked && sent.length > before;
    },
  };
}
