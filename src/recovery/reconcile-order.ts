import type { JobRecord } from '../speech/wire.js';
import type { RecoveredJob } from './recovery-report.js';

export interface ReconcileOrder {
  /** Jobs created at or after this; default: as far back as no earlier run has looked, at least the window. */
  readonly since?: Date | undefined;
  /** Default: all regions that have an address. */
  readonly regions?: readonly string[] | undefined;
  /** Only what should have come to this source. */
  readonly source?: string | undefined;
  /** Only these jobs, looked up instead of listed. */
  readonly jobs?: readonly string[] | undefined;
  /** Look and tell, change nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Told of every job as it is settled; `record` is null when the job was named and not listed. */
  readonly onJob?: (told: RecoveredJob, record: JobRecord | null) => void;
}
