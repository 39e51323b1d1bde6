import type { LedgerLine } from '../../domain/delivery.js';
import { rollupKey } from '../ledger-keys.js';
import { collectAttention } from './attention-lines.js';
import { durationBucket } from './duration-histogram.js';
import { createLastAccepted } from './last-accepted.js';
import type { Rollup, RollupHead } from './rollup.js';
import { createRollupGroups } from './rollup-groups.js';

/** Milliseconds of a slot. */
const SLOT = 600_000;

/** Adds the lines of a file up. */
export interface RollupBuilder {
  /** Lines come in the order of the file; `writtenAt` is in milliseconds since the epoch. */
  add(line: LedgerLine, writtenAt: number): void;
  finish(head: RollupHead): Rollup;
}

export function buildRollup(): RollupBuilder {
  const groups = createRollupGroups();
  const lastAccepted = createLastAccepted();
  const attention = collectAttention();
  let rows = 0;
  let first: number | null = null;
  let last: number | null = null;
  return {
    add(line, writtenAt) {
      rows += 1;
      first ??= writtenAt;
      last = writtenAt;
      const names = {
        source: nameOrNull(line.source),
        region: nameOrNull(line.region),
        status: nameOrNull(line.status),
        origin: line.origin,
        outcome: line.outcome,
      };
      const duration = line.origin === 'callback' ? numberOf(line.durationMs) : null;
      groups.add(Math.floor(writtenAt / SLOT) * SLOT, names, {
        lines: 1,
        bytes: numberOf(line.bytes),
        durations: duration === null ? [] : [[String(durationBucket(duration)), 1]],
        maxDuration: duration ?? 0,
      });
      const { origin, outcome, source, region } = names;
      const credential = nameOrNull(line.credential);
      lastAccepted.add({
        origin,
        outcome,
        source,
        region,
        credential,
        received: Date.parse(line.receivedAt),
      });
      attention.add(line);
    },
    finish: (head) => ({
      v: 1,
      key: rollupKey(head.hour, head.n),
      ...head,
      rows,
      first: isoOrNull(first),
      last: isoOrNull(last),
      slots: groups.slots(),
      lastAccepted: lastAccepted.result(),
      ...attention.result(),
    }),
  };
}

/** Lines that were edited by hand can hold anything. */
function nameOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number {
  return Number.isFinite(value) ? Math.max(0, Number(value)) : 0;
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
