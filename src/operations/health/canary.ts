import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { CANARY_FOLDER } from '../../archive/layout.js';
import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { diagnose } from '../../store/store-condition.js';
import type { StoreCondition } from '../../store/store-remedies.js';

export interface CanaryOptions {
  readonly store: Pick<ObjectStore, 'create' | 'replace' | 'read' | 'delete'>;
  /** Name of this replica. Processes may share it by mistake, so that the canary is `.canary/<replica>-<random>`. */
  readonly replica: string;
  /** Called when a check fails after a success or in another way, and with null when one succeeds after failures. */
  readonly onChange?: (
    failure: { readonly reason: string; readonly condition: StoreCondition | null } | null,
  ) => void;
  /** Milliseconds from the end of one check to the beginning of the next. Default 10,000. */
  readonly interval?: number;
  /** Milliseconds after which the last success no longer counts. Default: three intervals; up to five seconds more where they are short. */
  readonly maxAge?: number;
  /** Milliseconds after which a check that has not ended has failed. Default 10,000. */
  readonly timeout?: number;
  /** What this replica says of itself to all others: a JSON value, written with the canary. Default: nothing. */
  readonly report?: () => unknown;
  /** False for a store that is known to replace objects: that is accepted. Default true. */
  readonly needsConditions?: boolean;
  /**
   * When another object was last written, in milliseconds of `performance.now`: the store was writable then, whatever the canary had found
   * before. Default: never.
   */
  readonly lastWrite?: () => number;
  /** Called after each check of the interval. */
  readonly onChecked?: () => void;
  /** Rejects while nothing may be written. Called before each check until one succeeds. Default: anything may be. */
  readonly admit?: () => Promise<void>;
  /** Rejects when this is not the store that it should be. Called each second time. Default: any store is right. */
  readonly identify?: () => Promise<void>;
  /** Milliseconds since the epoch. Default `Date.now`, with ages measured by a monotonic clock. */
  readonly clock?: () => number;
}

export interface CanaryStatus {
  /** Whether the store was proven writable recently, by the canary or by another write. */
  readonly writable: boolean;
  /** Milliseconds since the epoch, or null before the first success. */
  readonly lastSuccessAt: number | null;
  /** Why it is not writable, or what was wrong in the latest check; null when nothing is. */
  readonly reason: string | null;
  /** What `reason` says of the whole store; null when that is not known. */
  readonly condition: StoreCondition | null;
  /** Milliseconds the last successful check took. */
  readonly latencyMs: number | null;
}

export interface Canary {
  /** Key of the object. */
  readonly key: string;
  /** Checks now and then on the interval. */
  start(): void;
  /** Ends the checks and removes the canary. Never throws: a canary that stays is swept later. */
  stop(): Promise<void>;
  /** Checks once, or joins the check in flight. Never throws: the status has the result. */
  check(): Promise<CanaryStatus>;
  status(): CanaryStatus;
}

interface Complaint extends ReturnType<typeof diagnose> {
  /** Ticks. */
  readonly at: number;
}

const NOT_CHECKED: Complaint = {
  reason: 'the store has not been checked yet',
  condition: null,
  refused: false,
  at: 0,
};

/** Milliseconds within which a replica at the default interval is not ready when its store hangs. */
const NOTICED_WITHIN = 30_000;

/** Milliseconds after the first success that follows a failure. */
const AFTER_FAILURE = 1_000;

/** Time-outs after which a call that never ended is abandoned, and another one may be made. */
const ABANDON_AFTER = 6;

/**
 * Proves that the store takes writes: a fresh body is written, read back and compared. Each second time it is identified as well, and a
 * write is tried that the store must refuse: an upgrade of it or a proxy can end what was proven at the start.
 */
export function createCanary(options: CanaryOptions): Canary {
  const {
    store,
    interval = 10_000,
    maxAge = Math.min(interval * 3 + 5000, Math.max(interval * 3, NOTICED_WITHIN)),
    timeout = 10_000,
    lastWrite = () => Number.NEGATIVE_INFINITY,
    clock = Date.now,
  } = options;
  // Ages are measured with a monotonic clock: a wall clock that is set back would keep an old success young.
  const ticks = options.clock ?? (() => performance.now());
  const key = `${CANARY_FOLDER}${options.replica.replace(/[^A-Za-z0-9_-]+/g, '-')}-${randomUUID().slice(0, 8)}`;
  const object = { store, key, report: options.report ?? (() => null) };
  let checks = 0;
  let last: { at: number; ticks: number; latencyMs: number } | null = null;
  let complaint: Complaint | null = NOT_CHECKED;
  let checking: Promise<CanaryStatus> | null = null;
  let unanswered: { since: number } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let running = false;

  function status(): CanaryStatus {
    const wroteAt = lastWrite();
    const refused = complaint?.refused === true && (complaint.at > wroteAt || isLasting(complaint));
    const writable = last !== null && !refused && ticks() - Math.max(last.ticks, wroteAt) < maxAge;
    const reason = complaint?.reason ?? (writable ? null : 'the last successful check is too old');
    return {
      writable,
      lastSuccessAt: last?.at ?? null,
      reason,
      condition: complaint?.condition ?? null,
      latencyMs: last?.latencyMs ?? null,
    };
  }

  /** A write that still hangs could overwrite the next one, so the next check waits for it, up to `ABANDON_AFTER` time-outs. */
  async function prove(): Promise<void> {
    if (unanswered && ticks() - unanswered.since < timeout * ABANDON_AFTER) {
      throw new DeadlineError(`the store has not answered for ${Math.round(ticks() - unanswered.since)} ms`);
    }
    const mine = { since: ticks() };
    unanswered = mine;
    checks += 1;
    const isThorough = checks % 2 === 0 || (complaint !== null && isLasting(complaint));
    const admitted = last === null ? options.admit?.() : undefined;
    await Promise.resolve(admitted)
      .then(() => (isThorough ? options.identify?.() : undefined))
      .then(() => proveStore(object, isThorough && options.needsConditions !== false))
      .finally(() => {
        if (unanswered === mine) unanswered = null;
      });
  }

  function record(found: Complaint | null): void {
    const before = complaint;
    complaint = found;
    if (before === NOT_CHECKED) return;
    if ((before === null) !== (found === null) || before?.condition !== found?.condition)
      options.onChange?.(found);
  }

  async function attempt(): Promise<CanaryStatus> {
    const started = ticks();
    try {
      await withDeadline(prove(), timeout, `the store did not answer within ${timeout} ms`);
      last = { at: clock(), ticks: ticks(), latencyMs: Math.round(ticks() - started) };
      record(null);
    } catch (error) {
      record({ ...diagnose(error), at: ticks() });
    }
    return status();
  }

  function check(): Promise<CanaryStatus> {
    checking ??= attempt().finally(() => {
      checking = null;
    });
    return checking;
  }

  async function run(): Promise<void> {
    const hadFailed = complaint !== null && complaint !== NOT_CHECKED;
    await check();
    options.onChecked?.();
    // What it wrote still reports the failure.
    const isOver = hadFailed && complaint === null;
    // One check that fails alone does not make the last success too old.
    const pause = complaint === null ? interval : interval / 2;
    if (running) timer = setTimeout(run, isOver ? Math.min(interval, AFTER_FAILURE) : pause).unref();
  }

  return {
    key,
    start() {
      if (running) return;
      running = true;
      void run();
    },
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      await checking;
      // After a check that never ended a canary may exist, but the store would not take the delete either.
      if (last !== null && unanswered === null) await store.delete(key).catch(() => undefined);
    },
    check,
    status,
  };
}

/** Another write that succeeds does not show that it has ended. */
function isLasting({ condition }: Complaint): boolean {
  return condition === 'overwrites' || condition === 'missing';
}

type CanaryObject = Required<Pick<CanaryOptions, 'store' | 'report'>> & { readonly key: string };

/** @param tests also tries a write that the store must refuse, because there is an object */
async function proveStore({ store, key, report }: CanaryObject, tests: boolean): Promise<void> {
  const body = bodyOf(report());
  // The second write has the report of this replica, too: where it is not refused, others read it.
  const refused = bodyOf(report());
  await store.replace(key, body, DOCUMENT_HEADERS);
  // An object that somebody removed meanwhile is created: only a second creation shows that the condition does not hold.
  const isGone = tests && (await store.create(key, refused, DOCUMENT_HEADERS)) === 'created';
  if (isGone && (await store.create(key, refused, DOCUMENT_HEADERS)) === 'created') throw overwritten();
  const reading = await store.read(key);
  if (reading === null) throw new Error('the canary was written but is not there');
  const found = await buffer(reading.body);
  if (found.equals(isGone ? refused : body)) return;
  throw found.equals(refused) ? overwritten() : new Error('the canary reads back differently');
}

function bodyOf(report: unknown): Buffer {
  return Buffer.from(JSON.stringify({ mark: randomUUID(), report }));
}

function overwritten(): StoreError {
  const reason = 'a conditional write replaced the canary: the store ignores the condition';
  return new StoreError('canary', reason, { condition: 'overwrites' });
}
