import type { RecordedStretch, Stretch } from './settled-store.js';
import { subtractRanges, type TimeRange } from './time-ranges.js';

/** Which part of a window has to be listed. */
export interface ListPlan {
  /** Newest first. */
  readonly ranges: readonly TimeRange[];
  /** Settled stretches that are listed all the same. */
  readonly relisted: readonly Stretch[];
  /** Jobs of the settled stretches that are not listed. */
  readonly skipped: { readonly matched: number; readonly ignored: number };
}

/**
 * Jobs of settled stretches that every run lists again, the newest ones: 100 requests. A job that the service's list
 * shows late is found that way, as long as a window has no more jobs than this.
 */
export const RELISTED_JOBS = 10_000;

/** A request lists 100 jobs. Leaving out a stretch with fewer than half of them would cost a request more than it saves. */
const WORTH_SKIPPING = 50;

/** Every stretch is listed once more after this time, in case the list showed some of its jobs late. */
const LISTED_AGAIN_AFTER = 24 * 3_600_000;

/**
 * Skips the settled stretches of a window, except the newest and the small ones, and those that are to be listed once
 * more.
 *
 * @param now milliseconds since the epoch
 */
export function planListing(window: TimeRange, stretches: readonly RecordedStretch[], now: number): ListPlan {
  const isCurrent = ({ to, at }: RecordedStretch) =>
    now - to < LISTED_AGAIN_AFTER || at - to >= LISTED_AGAIN_AFTER;
  const settled = withoutOverlaps(stretches.filter((each) => each.to >= window.from && isCurrent(each)));
  let jobs = 0;
  const newest = settled.findIndex((stretch) => {
    jobs += sizeOf(stretch);
    return jobs > RELISTED_JOBS;
  });
  const older = newest === -1 ? [] : settled.slice(newest);
  const skipped = blocksOf(older)
    .filter((block) => sum(block, sizeOf) >= WORTH_SKIPPING)
    .flat();
  const isSkipped = new Set(skipped);
  return {
    ranges: subtractRanges(window, skipped),
    relisted: settled.filter((stretch) => !isSkipped.has(stretch)),
    skipped: {
      matched: sum(skipped, ({ matched }) => matched),
      ignored: sum(skipped, ({ ignored }) => ignored),
    },
  };
}

/** Newest first. Of stretches that overlap, because two runs wrote them at once, the larger one stays. */
function withoutOverlaps(stretches: readonly Stretch[]): Stretch[] {
  const kept: Stretch[] = [];
  for (const stretch of stretches.toSorted((a, b) => b.to - a.to || a.from - b.from)) {
    const newer = kept.at(-1);
    if (newer === undefined || stretch.to < newer.from) kept.push(stretch);
    else if (stretch.from < newer.from) kept[kept.length - 1] = joined(newer, stretch);
  }
  return kept;
}

/** The counts of the common part cannot be told apart: the larger ones are the closest that is certain. */
function joined(newer: Stretch, older: Stretch): Stretch {
  return {
    from: older.from,
    to: newer.to,
    matched: Math.max(newer.matched, older.matched),
    ignored: Math.max(newer.ignored, older.ignored),
  };
}

/** Stretches without a gap between them, together. */
function blocksOf(stretches: readonly Stretch[]): Stretch[][] {
  const blocks: Stretch[][] = [];
  for (const stretch of stretches) {
    const block = blocks.at(-1);
    if (block?.at(-1)?.from === stretch.to + 1) block.push(stretch);
    else blocks.push([stretch]);
  }
  return blocks;
}

function sizeOf({ matched, ignored }: Stretch): number {
  return matched + ignored;
}

function sum(stretches: readonly Stretch[], count: (stretch: Stretch) => number): number {
  return stretches.reduce((total, stretch) => total + count(stretch), 0);
}
