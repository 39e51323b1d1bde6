import type { LedgerLine } from '../../../domain/delivery.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { createCompactedHours } from './compacted-hours.js';
import { EVERYTHING } from './log-filter.js';
import { beforeInstant, END_OF_LOG } from './log-position.js';
import { type LogSearch, scanLog } from './scan-log.js';

export interface LinesToRead extends Partial<Pick<LogSearch, 'onFault' | 'onSkipped'>> {
  /** Written from then on, in milliseconds since the epoch. Default: from the beginning. */
  readonly since?: number;
  /** Written before then. Default: to the end. */
  readonly until?: number;
  /** Only lines of this job, which are found without reading all others. */
  readonly job?: string;
}

/**
 * All lines of a range, in the order of writing and in bounded memory. The same delivery can come more than once. Rejects with
 * `StoreError`; what is damaged is passed over, as `onFault` says.
 */
export async function* readLines(store: ObjectStore, options: LinesToRead = {}): AsyncGenerator<LedgerLine> {
  const { since = Number.NEGATIVE_INFINITY, until, onFault = ignore, onSkipped = ignore } = options;
  const before = until === undefined ? END_OF_LOG : beforeInstant(until);
  const range = { order: 'oldest', since, before } as const;
  const filter = options.job === undefined ? EVERYTHING : { ...EVERYTHING, wanted: { job: options.job } };
  const steps = scanLog(store, createCompactedHours(store), { range, filter, onFault, onSkipped });
  for await (const { entries } of steps) for (const { line } of entries) yield line;
}

function ignore(): void {}
