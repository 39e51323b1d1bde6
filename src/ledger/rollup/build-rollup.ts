import type { LedgerLine } from '../../domain/delivery.js';
import { collectAttention } from './attention-lines.js';
import { durationBucket } from './duration-histogram.js';
import { collectLastAccepted } from './last-accepted.js';
import type { Rollup, RollupHead } from './rollup.js';
import { createRollupGroups } from './rollup-groups.js';

/** Adds the lines of a file up. */
export interface RollupBuilder {
  /** Lines come in the order of the file; `writtenAt` is in milliseconds since the epoch. */
  add(line: LedgerLine, writtenAt: number): void;
  finish(head: RollupHead): Rollup;
}

export function buildRollup(): RollupBuilder {
  const groups = createRollupGroups();
  const lastAccepted = collectLastAccepted();
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
      groups.add(tenMinutesOf(writtenAt), names, {
        lines: 1,
        bytes: numberOf(line.bytes),
        durations: duration === null ? [] : [[String(durationBucket(duration)), 1]],
        maxDuration: duration ?? 0,
      });
      lastAccepted.add(line);
      attention.add(line);
    },
    finish: (head) => ({
      v: 1,
      ...head,
      rows,
      first: isoOrNull(first),
      last: isoOrNull(last),
      slots: groups.slots().map(({ slot, groups: all }) => ({ minute: slot, groups: all })),
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

function tenMinutesOf(time: number): number {
  return Math.floor(new Date(time).getUTCMinutes() / 10) * 10;
}
