import type { JobPage } from '../../speech/batch/job-pages.js';
import type { JobRecord } from '../../speech/wire.js';
import { type ListPlan, planListing, RELISTED_JOBS } from './list-plan.js';
import { includesId, settledId } from './settled-ids.js';
import type { IdsFile, RecordedStretch, SettledStore, Stretch } from './settled-store.js';
import { contains, dayOf, sameHour, splitByHour, subtractRanges, type TimeRange } from './time-ranges.js';

/** What a run found of a listed job: `open` jobs have to be looked at again. */
export type ListedState = 'matched' | 'ignored' | 'open';

export interface ProgressOptions {
  readonly settled: SettledStore;
  /** Milliseconds since the epoch, as all times here. */
  readonly since: number;
  readonly startedAt: number;
  /** How far our clock and the order of the job list are trusted: younger jobs are listed again. */
  readonly tolerance: number;
  /** Ignore what earlier runs recorded. */
  readonly full: boolean;
  /** Milliseconds from any moment on; default `performance.now`. */
  readonly elapsed?: () => number;
}

/** Milliseconds between two saves at first; each interval is twice the one before, so that runs make few objects. */
const FIRST_SAVE_AFTER = 1000;
const LONGEST_SAVE_INTERVAL = 60_000;
/** Ids in memory, and in one object. */
const MAX_UNSAVED_IDS = 65_536;

interface IdsOfDay extends TimeRange {
  readonly ids: Buffer[];
}

/**
 * The progress of a run through the job list of one region: which ranges of the list and which jobs are settled, by
 * earlier runs and by this one. It is saved as the run goes, so that a run that is cut off is continued by the next.
 *
 * Only what was seen is settled: a range ends before each job that is open, and an hour before the run began, because
 * the list may show younger jobs late.
 */
export class RegionProgress {
  readonly plan: ListPlan;
  readonly #options: ProgressOptions;
  readonly #idsFiles: readonly IdsFile[];
  readonly #loaded = new Map<IdsFile, Buffer>();
  #listedJobs = 0;
  /** Ranges up to this may be settled. Known once the newest jobs were listed. */
  #settleUntil: number | null = null;
  /** Of the range that is being listed: the newest time that is not yet accounted for. */
  #top = Number.NEGATIVE_INFINITY;
  /** Settled jobs and open times at or below `#top`. */
  #jobs: { readonly time: number; readonly isIgnored: boolean }[] = [];
  #open: TimeRange[] = [];
  #stretches: Stretch[] = [];
  #ids = new Map<string, IdsOfDay>();
  #unsaved = 0;
  /** False when the list is too far from newest first for any of its stretches to be settled. */
  #isBelieved = true;
  readonly #elapsed: () => number;
  #savedAt: number;
  #saveAfter = FIRST_SAVE_AFTER;
  #failure: unknown = null;

  /** Throws `StoreError`. */
  static async open(options: ProgressOptions): Promise<RegionProgress> {
    const { settled, since, startedAt, tolerance, full } = options;
    const recorded = full
      ? { stretches: [], idsFiles: [] }
      : await settled.read({ from: since, to: startedAt + tolerance });
    return new RegionProgress(options, recorded.stretches, recorded.idsFiles);
  }

  private constructor(
    options: ProgressOptions,
    stretches: readonly RecordedStretch[],
    idsFiles: readonly IdsFile[],
  ) {
    this.#options = options;
    this.#idsFiles = idsFiles;
    const { since, startedAt, elapsed = () => performance.now() } = options;
    this.plan = planListing({ from: since, to: Number.POSITIVE_INFINITY }, stretches, startedAt);
    this.#elapsed = elapsed;
    this.#savedAt = elapsed();
  }

  /** Ids of those jobs of a page that are settled. Pages come newest first. Throws `StoreError`. */
  async settledOf(jobs: readonly JobRecord[]): Promise<ReadonlySet<string>> {
    if (jobs.length === 0) return new Set();
    const range = rangeOf(jobs.map(createdAt));
    for (const file of this.#loaded.keys()) if (file.from > range.to) this.#loaded.delete(file);
    const needed = this.#idsFiles.filter(
      (file) => file.from <= range.to && file.to >= range.from && !this.#loaded.has(file),
    );
    const read = await Promise.all(needed.map((file) => this.#options.settled.readIds(file)));
    for (const [index, file] of needed.entries()) this.#loaded.set(file, read[index] ?? Buffer.alloc(0));
    const packed = [...this.#loaded.values()];
    const settled = jobs.filter(({ id }) => {
      const own = settledId(id);
      return packed.some((ids) => includesId(ids, own));
    });
    return new Set(settled.map(({ id }) => id));
  }

  /** Records a job that needs no further look. */
  settle(job: JobRecord): void {
    const time = createdAt(job);
    const { since, startedAt, tolerance } = this.#options;
    // The records of other times are not read.
    if (time < since || time > startedAt + tolerance) return;
    const day = dayOf(time);
    const { from, to, ids } = this.#ids.get(day) ?? { from: time, to: time, ids: [] };
    ids.push(settledId(job.id));
    this.#ids.set(day, { from: Math.min(from, time), to: Math.max(to, time), ids });
    this.#unsaved += 1;
  }

  begin(range: TimeRange): void {
    this.#top = range.to;
    this.#jobs = [];
    this.#open = [];
  }

  /** Accounts for a page of the range that was begun. Pages come in the order of the list. */
  async listed(page: JobPage, stateOf: (job: JobRecord) => ListedState): Promise<void> {
    const { jobs, malformed, gapAt, disorder } = page;
    this.#listedJobs += jobs.length;
    // A list that is not newest first shows jobs behind the stretch that they belong to, or hides them.
    const isLate =
      jobs.some((job) => createdAt(job) > this.#top) || (gapAt !== null && Date.parse(gapAt) > this.#top);
    if (disorder !== null || isLate) {
      this.#isBelieved = false;
      this.#stretches = [];
    }
    const times = rangeOf(jobs.map(createdAt));
    if (gapAt !== null) this.#open.push({ from: Date.parse(gapAt), to: Date.parse(gapAt) });
    // Nothing says when they were created.
    if (malformed > 0) this.#open.push({ from: Math.min(times.from, this.#top), to: this.#top });
    if (jobs.length === 0) return;
    this.#settleUntil ??= this.#latestSettled(jobs);
    for (const job of jobs) {
      const state = stateOf(job);
      const time = createdAt(job);
      if (state === 'open') this.#open.push({ from: time, to: time });
      else this.#jobs.push({ time, isIgnored: state === 'ignored' });
    }
    // Others of the oldest millisecond may be on the next page.
    this.#accountDownTo(times.from + 1);
    const waited = this.#elapsed() - this.#savedAt;
    if (this.#unsaved >= MAX_UNSAVED_IDS || waited >= this.#saveAfter) await this.#save();
  }

  /** The range that was begun was listed to its end. */
  end({ from }: TimeRange): void {
    this.#accountDownTo(from);
  }

  /** Saves the rest. Rejects when something could not be saved. */
  async finish(): Promise<void> {
    await this.#save();
    if (this.#failure !== null) throw this.#failure;
  }

  /** A job that is created after this run may carry a time before it, and appear in the list behind younger ones. */
  #latestSettled(jobs: readonly JobRecord[]): number | null {
    const { startedAt, tolerance } = this.#options;
    const past = jobs.map(createdAt).filter((time) => time <= startedAt);
    return past.length === 0 ? null : Math.max(...past) - tolerance;
  }

  #accountDownTo(from: number): void {
    const to = Math.min(this.#top, this.#settleUntil ?? Number.NEGATIVE_INFINITY);
    if (from <= to) {
      const without = [...this.#open, ...this.plan.relisted];
      const ranges = subtractRanges({ from, to }, without).flatMap(splitByHour);
      for (const range of ranges) this.#add(range);
    }
    this.#top = Math.min(this.#top, from - 1);
    this.#jobs = this.#jobs.filter(({ time }) => time < from);
    this.#open = this.#open.filter((range) => range.from < from);
  }

  #add(range: TimeRange): void {
    if (!this.#isBelieved) return;
    const jobs = this.#jobs.filter(({ time }) => contains(range, time));
    const ignored = jobs.filter(({ isIgnored }) => isIgnored).length;
    const stretch = { ...range, matched: jobs.length - ignored, ignored };
    const newer = this.#stretches.at(-1);
    if (newer === undefined || newer.from !== range.to + 1 || !sameHour(newer.from, range.to)) {
      this.#stretches.push(stretch);
      return;
    }
    this.#stretches[this.#stretches.length - 1] = {
      from: range.from,
      to: newer.to,
      matched: newer.matched + stretch.matched,
      ignored: newer.ignored + ignored,
    };
  }

  /** What cannot be saved is looked at again by the next run. */
  async #save(): Promise<void> {
    const days = [...this.#ids.values()];
    this.#ids = new Map();
    this.#unsaved = 0;
    // Below that all of them are listed again anyway.
    const stretches = this.#listedJobs > RELISTED_JOBS ? this.#stretches.splice(0) : [];
    try {
      for (const day of days) await this.#options.settled.writeIds(day, day.ids);
      if (stretches.length > 0)
        await this.#options.settled.writeStretches(stretches, this.#options.startedAt);
    } catch (error) {
      this.#failure ??= error;
    }
    this.#savedAt = this.#elapsed();
    this.#saveAfter = Math.min(2 * this.#saveAfter, LONGEST_SAVE_INTERVAL);
  }
}

function createdAt(job: JobRecord): number {
  return Date.parse(job.created_at);
}

function rangeOf(times: readonly number[]): TimeRange {
  return { from: Math.min(...times), to: Math.max(...times) };
}
