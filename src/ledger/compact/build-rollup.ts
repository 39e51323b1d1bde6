import type { LedgerLine } from '../../domain/delivery.js';
import { durationBucket } from '../../domain/duration-histogram.js';
import { collectAttention } from './attention-lines.js';
import { collectLastAccepted } from './last-accepted.js';
import type { Rollup, RollupHead } from './rollup.js';
import { createRollupGroups } from './rollup-groups.js';

/** Adds the lines of a file up, in bounded memory. */
export interface RollupBuilder {
  /** Lines come in the order of the file. */
  add(line: LedgerLine): void;
  finish(head: RollupHead): Rollup;
}

export function buildRollup(): RollupBuilder {
  const groups = createRollupGroups();
  const lastAccepted = collectLastAccepted();
  const attention = collectAttention();
  let rows = 0;
  let firstReceivedAt: string | null = null;
  let lastReceivedAt: string | null = null;
  return {
    add(line) {
      rows += 1;
      firstReceivedAt ??= line.receivedAt;
      lastReceivedAt = line.receivedAt;
      const names = {
        source: nameOrNull(line.source),
        region: nameOrNull(line.region),
        status: nameOrNull(line.status),
        origin: line.origin,
        outcome: line.outcome,
      };
      const duration = line.origin === 'callback' ? numberOf(line.durationMs) : null;
      groups.add(tenMinutesOf(line.receivedAt), names, {
        lines: 1,
        bytes: numberOf(line.bytes),
        durations: duration === null ? [] : [[String(durationBucket(duration)), 1]],
        maxDuration: duration ?? 0,
      });
      lastAccepted.add(line);
      attention.add(line);
    },
    finish: ({ segments, ...head }) => ({
      v: 1,
      ...head,
      rows,
      firstReceivedAt,
      lastReceivedAt,
      slots: groups.slots().map(({ slot, groups: all }) => ({ minute: slot, groups: all })),
      lastAccepted: lastAccepted.result(),
      ...attention.result(),
      // Last, because `readRollupFigures` stops before it.
      segments,
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

function tenMinutesOf(receivedAt: string): number {
  return Math.floor(Number(receivedAt.slice(14, 16)) / 10) * 10;
}
