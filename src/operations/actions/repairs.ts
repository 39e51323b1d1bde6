import type { Archive } from '../../archive/archive.js';
import { createQuarantineStore, type QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import { type RefetchJobOptions, refetchJob } from '../../recovery/reconcile/fetch/refetch.js';
import type { RecoveryParts } from '../../recovery/reconcile/recovery-parts.js';
import type { RecoveredJob } from '../../recovery/reconcile/report/recovery-report.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { ReleaseParts, ReleasingSource } from './release-body.js';
import type { NotifyParts } from './replay/notify-item.js';
import type { ReplayItemParts } from './replay/replay-item.js';
import { createReplayStore } from './replay/replay-store.js';
import { createReplays, type Replays } from './replay/replays.js';

export interface RepairOptions extends Pick<ReplayItemParts, 'onReplayFailure' | 'onError'> {
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly ledger: Ledger;
  readonly sources: ReadonlyMap<string, ReleasingSource>;
  readonly recovery: RecoveryParts;
  readonly view: LedgerView;
  /** Subscribers and the outbox that sends to them. */
  readonly events: Pick<NotifyParts, 'outbox' | 'subscribers'>;
  /** Name of this replica. */
  readonly replica: string;
  /** Whether live traffic needs what a replay would take. */
  readonly busy: () => boolean;
  /** Called for every body that was released, for metrics. */
  readonly onReleased?: () => void;
}

/** The repairs an operator can order, for the admin API and the command line alike. */
export interface Repairs {
  readonly view: LedgerView;
  readonly quarantine: QuarantineStore;
  readonly release: ReleaseParts;
  readonly replays: Replays;
  /** Rejects with `conflict` when the service's API is not configured. */
  refetchJob(jobId: string, options: RefetchJobOptions): Promise<RecoveredJob>;
}

export function createRepairs(options: RepairOptions): Repairs {
  const { store, archive, ledger, view, recovery, sources, onReleased } = options;
  const quarantine = createQuarantineStore(store);
  const release: ReleaseParts = {
    ...{ quarantine, view, sources, archive, ledger },
    ...(onReleased ? { onReleased } : {}),
  };
  const replays = createReplays({
    ...options,
    release,
    notify: { ...options.events, view, store },
    replays: createReplayStore(store),
    owner: options.replica,
  });
  return {
    view,
    quarantine,
    release,
    replays,
    refetchJob: (jobId, refetchOptions) => refetchJob(recovery, jobId, refetchOptions),
  };
}
