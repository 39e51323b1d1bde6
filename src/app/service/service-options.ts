import type { Config } from '../../config/config.js';
import type { StartIndex } from '../../index/fill/open-index-of-store.js';
import type { Logger } from '../../observe/logger.js';
import type { AdminToken } from '../../operations/admin/access/access.js';
import type { StoreProofTarget } from '../../store/probe/store-proof.js';
import type { OutboxTimes } from '../../subscribers/subscriber-run.js';
import type { serviceLimits } from '../fixed-limits.js';

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  /** Bearer tokens of the admin port by name; at least one. */
  readonly adminTokens: Readonly<Record<string, AdminToken>>;
  /** Replaces fixed limits; for tests. */
  readonly limits?: Parameters<typeof serviceLimits>[1];
  /** Cache directory of this machine, for the index and the ids of known stores. Default: none. */
  readonly cacheFolder?: string | null;
  /** Opens the index. Default: in a worker, whose start is most of the cost of a service in a test. */
  readonly startIndex?: StartIndex;
  /** Probes the store at the start. Default: the whole probe, which is half of the cost of a service in a test. */
  readonly probe?: StoreProofTarget['probe'];
  /** Times of the senders to subscribers, for tests. */
  readonly outboxTimes?: OutboxTimes;
  /** Ends the process, because the store was found unfit after the start. */
  readonly onFatal: (error: Error) => void;
}
