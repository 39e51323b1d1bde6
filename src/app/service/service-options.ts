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
  /** Folder in which this machine keeps the index and remembers its stores. Default: it has none. */
  readonly memory?: string | null;
  /** Opens the index. Default: in a worker; for tests, because starting one is most of what a small service costs. */
  readonly startIndex?: StartIndex;
  /** Probes the store at the start. Default: all of it; for tests of other things, as it is half of what a small service costs. */
  readonly probe?: StoreProofTarget['probe'];
  /** Pauses of the senders to subscribers. Default: those of production; for tests. */
  readonly outboxTimes?: OutboxTimes;
  /** Ends the process: the store was found to be unfit after the start. */
  readonly onFatal: (error: Error) => void;
}
