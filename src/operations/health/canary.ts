import { randomUUID } from 'node:crypto';
import { CANARY_FOLDER } from '../../archive/layout.js';
import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { readBytes } from '../../store/read-to-end.js';
import { diagnose } from '../../store/store-condition.js';
import type { StoreCondition } from '../../store/store-remedies.js';

export interface CanaryOptions {
  readonly store: Pick<ObjectStore, 'create' | 'replace' | 'read' | 'delete'>;
  /** Name of this replica. The key is `.canary/<replica>-<random>`, because processes may share a name by mistake. */
  readonly replica: string;
  /** Called when a check fails after a success or with another condition, and with null when one succeeds after failures. */
  readonly onChange?: (
    failure: { readonly reason: string; readonly condition: StoreCondition | null } | null,
  ) => void;
  /** Milliseconds from the end of one check to the beginning of the next. Default 10,000. */
  readonly interval?: number;
  /** Milliseconds after which a check that has not ended has failed. Default 10,000. */
  readonly timeout?: number;
  /** Report of this replica for all others: a JSON value, written with the canary. Default: none. */
  readonly report?: () => unknown;
  /** False for a store that is accepted although it ignores conditional writes. Default true. */
  readonly needsConditions?: boolean;
  /**
   * When another object was last written, in milliseconds of `performance.now`: it proves the store writable, even if the canary failed
   * before. Default: never.
   */
  readonly lastWrite?: () => number;
  /** Called after each check of the interval. */
  readonly onChecked?: () => void;
  /** Rejects while the store must not be written. Called before each check until one succeeds. Default: no restriction. */
  readonly admit?: () => Promise<void>;
  /** Rejects for a wrong store. Called with every second check. Default: none. */
  readonly identify?: () => Promise<void>;
  /** Milliseconds since the epoch. Default `Date.now`, with ages measured by a monotonic clock. */
  readonly clock?: () => number;
}

export interface CanaryStatus {
  /** Whether the store was proven writable recently, by the canary or by another write. */
  readonly writable: boolean;
  /** Milliseconds since the epoch, or null before the first success. */
  readonly lastSuccessAt: number | null;
  /** Why it is not writable, or why the latest check failed; null otherwise. */
  readonly reason: string | null;
  /** Condition of the whole store that `reason` shows; null when unknown. */
  readonly condition: StoreCondition | null;
  /** Milliseconds the last successful check took. */
  readonly latencyMs: number | null;
}

/** Why the latest check failed. */
interface CheckFailure extends ReturnType<typeof diagnose> {
  /** Monotonic time in milliseconds. */
  readonly at: number;
}

const NOT_CHECKED: CheckFailure = {
  reason: 'the store has not been checked yet',
  condition: null,
  refused: false,
  at: 0,
};

/** Milliseconds after which a hanging store makes a replica with the default interval not ready. */
const NOTICED_WITHIN = 30_000;

/** Milliseconds until the next check after the first success that follows a failure. */
const AFTER_FAILURE = 1_000;

/** Number of time-outs after which a hanging call is abandoned and another check may start. */
const ABANDON_AFTER = 6;

/**
 * Proves that the store accepts writes: a fresh body is written, read back and compared. Every second check also verifies the store's id and
 * tries a conditional write that the store must refuse, because an upgrade or a proxy can break what was proven at the start.
 */
export class Canary {
  /** Key of the object. */
  readonly key: string;
  /** Failure of the latest check; null after a success. */
  complaint: CheckFailure | null = NOT_CHECKED;
  readonly #options: CanaryOptions;
  readonly #interval: number;
  /** Milliseconds after which the last success is too old: three intervals, plus up to five seconds if they are short. */
  readonly #maxAge: number;
  readonly #timeout: number;
  readonly #ticks: () => number;
  #checks = 0;
  #last: { at: number; ticks: number; latencyMs: number } | null = null;
  #checking: Promise<CanaryStatus> | null = null;
  #unanswered: { since: number } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #running = false;

  constructor(options: CanaryOptions) {
    const { replica, interval = 10_000, timeout = 10_000 } = options;
    this.key = `${CANARY_FOLDER}${replica.replace(/[^A-Za-z0-9_-]+/g, '-')}-${randomUUID().slice(0, 8)}`;
    this.#options = options;
    this.#interval = interval;
    this.#maxAge = Math.min(interval * 3 + 5000, Math.max(interval * 3, NOTICED_WITHIN));
    this.#timeout = timeout;
    // Ages need a monotonic clock: with a system clock that is set back, an old success would seem recent.
    this.#ticks = options.clock ?? (() => performance.now());
  }

  /** Whether the store was proven writable recently, by the canary or by another write. */
  isWritable(): boolean {
    const { complaint } = this;
    const wroteAt = this.#options.lastWrite?.() ?? Number.NEGATIVE_INFINITY;
    if (complaint?.refused === true && (complaint.at > wroteAt || isLasting(complaint))) return false;
    return this.#last !== null && this.#ticks() - Math.max(this.#last.ticks, wroteAt) < this.#maxAge;
  }

  /** Whether a check that started after this time of `performance.now` succeeded. */
  succeededSince(moment: number): boolean {
    return this.#last !== null && this.#last.ticks - this.#last.latencyMs > moment;
  }

  status(): CanaryStatus {
    const writable = this.isWritable();
    return {
      writable,
      lastSuccessAt: this.#last?.at ?? null,
      reason: this.complaint?.reason ?? (writable ? null : 'the last successful check is too old'),
      condition: this.complaint?.condition ?? null,
      latencyMs: this.#last?.latencyMs ?? null,
    };
  }

  /** Checks now and then on the interval. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  /** Ends the checks and removes the canary. Never throws: a canary that stays is swept later. */
  async stop(): Promise<void> {
    this.#running = false;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#checking;
    // After a check that never ended a canary may exist, but the store would not accept a delete either.
    if (this.#last === null || this.#unanswered !== null) return;
    const { store } = this.#options;
    // If deletes are denied, removes the report: a canary with one would be reported as a silent replica for an hour.
    const signOff = () => store.replace(this.key, bodyOf(null), DOCUMENT_HEADERS);
    await store
      .delete(this.key)
      .catch(signOff)
      .catch(() => undefined);
  }

  /** Checks once, or joins the check in flight. Never throws: the result is in the status. */
  check(): Promise<CanaryStatus> {
    this.#checking ??= this.#attempt().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** Writes the current report between the checks of the interval; does nothing before `start` and after `stop`. */
  renew(): void {
    if (this.#running) void this.check();
  }

  async #run(): Promise<void> {
    const hadFailed = this.complaint !== null && this.complaint !== NOT_CHECKED;
    await this.check();
    this.#options.onChecked?.();
    // The report that this check wrote still contains the failure, so the next check follows soon.
    const isOver = hadFailed && this.complaint === null;
    // After a failure at half the interval, so that a single failed check does not make the last success too old.
    const pause = this.complaint === null ? this.#interval : this.#interval / 2;
    if (!this.#running) return;
    const soon = isOver ? Math.min(this.#interval, AFTER_FAILURE) : pause;
    this.#timer = setTimeout(() => void this.#run(), soon).unref();
  }

  async #attempt(): Promise<CanaryStatus> {
    const { clock = Date.now } = this.#options;
    const started = this.#ticks();
    const message = `the store did not answer within ${this.#timeout} ms`;
    try {
      await withDeadline(this.#prove(), this.#timeout, message);
      const ended = this.#ticks();
      this.#last = { at: clock(), ticks: ended, latencyMs: Math.round(ended - started) };
      this.#record(null);
    } catch (error) {
      this.#record({ ...diagnose(error), at: this.#ticks() });
    }
    return this.status();
  }

  /** Throws while an earlier write hangs, up to `ABANDON_AFTER` time-outs, because that could overwrite the next one. */
  async #prove(): Promise<void> {
    const { store, admit, identify, report = () => null, needsConditions = true } = this.#options;
    const now = this.#ticks();
    const waited = now - (this.#unanswered?.since ?? now);
    if (this.#unanswered !== null && waited < this.#timeout * ABANDON_AFTER)
      throw new DeadlineError(`the store has not answered for ${Math.round(waited)} ms`);
    const mine = { since: now };
    this.#unanswered = mine;
    this.#checks += 1;
    const isThorough = this.#checks % 2 === 0 || (this.complaint !== null && isLasting(this.complaint));
    try {
      if (this.#last === null) await admit?.();
      if (isThorough) await identify?.();
      await proveStore({ store, key: this.key, report }, isThorough && needsConditions);
    } finally {
      if (this.#unanswered === mine) this.#unanswered = null;
    }
  }

  #record(found: CheckFailure | null): void {
    const before = this.complaint;
    this.complaint = found;
    if (before === NOT_CHECKED) return;
    if ((before === null) !== (found === null) || before?.condition !== found?.condition)
      this.#options.onChange?.(found);
  }
}

/** Whether the condition persists even if another write succeeds. */
function isLasting({ condition }: CheckFailure): boolean {
  return condition === 'overwrites' || condition === 'missing';
}

type CanaryObject = Required<Pick<CanaryOptions, 'store' | 'report'>> & { readonly key: string };

/** @param tests also try a conditional write that the store must refuse, because the object exists */
async function proveStore({ store, key, report }: CanaryObject, tests: boolean): Promise<void> {
  const body = bodyOf(report());
  // The second write also has the report, because other replicas read it if the store does not refuse the write.
  const refused = bodyOf(report());
  await store.replace(key, body, DOCUMENT_HEADERS);
  // The object may have been removed meanwhile, so only a second creation proves that the condition is ignored.
  const isGone = tests && (await store.create(key, refused, DOCUMENT_HEADERS)) === 'created';
  if (isGone && (await store.create(key, refused, DOCUMENT_HEADERS)) === 'created') throw overwritten();
  const found = await readBytes(store, key);
  if (found === null) throw new Error('the canary was written but is not there');
  if (found.bytes?.equals(isGone ? refused : body)) return;
  throw found.bytes?.equals(refused) ? overwritten() : new Error('the canary reads back differently');
}

function bodyOf(report: unknown): Buffer {
  return Buffer.from(JSON.stringify({ mark: randomUUID(), report }));
}

function overwritten(): StoreError {
  const reason = 'a conditional write replaced the canary: the store ignores the condition';
  return new StoreError('canary', reason, { condition: 'overwrites' });
}
