import { ulidMaker } from '../../lib/text/ulid-maker.js';
import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { readBytes } from '../../store/read-to-end.js';
import { diagnose } from '../../store/store-condition.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { assertClock, hourAt } from '../hours.js';
import { LAST_NUMBER, segmentKey } from '../segment-key.js';

/** A line of a segment. */
export interface SegmentLine {
  readonly text: string;
  /** Size of the text in UTF-8, with its line feed. */
  readonly bytes: number;
}

/** A segment that became durable. */
export interface SegmentInfo {
  readonly key: string;
  readonly lines: number;
  readonly bytes: number;
  readonly durationMs: number;
}

export interface LedgerFault {
  /** When it was found, in milliseconds of `performance.now`. */
  readonly at: number;
  readonly reason: string;
  readonly condition: StoreCondition | null;
}

export interface SegmentWriterOptions {
  readonly store: ObjectStore;
  /** Name of this replica; part of the writer's name. */
  readonly replica: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds after which the outcome of a write counts as unknown. Default two minutes. */
  readonly deadline?: number | undefined;
  /** Subscriber whose sent records the segments hold. Default: they are the ledger's. */
  readonly subscriber?: string | undefined;
}

const DEADLINE = 120_000;
/** Milliseconds after which a write counts as hanging. */
const HANGING = 20_000;
/** Failed writes in a row from which on they count as a fault. */
const FAILURES_OF_FAULT = 2;
/** Milliseconds after which the fault expires: a replica that is not ready gets no callback, so no line could show its end. */
const FAULT_LIFETIME = 60_000;

/**
 * Writes numbered segments, one after the other (docs/decisions/ledger.md). A number is used only when the one before it is
 * known to be written, so that no lower number appears after one that was read, and a missing number is a lost segment. After a
 * write with an unknown outcome the writer takes a new name: no segment is overwritten, and no write waits for the outcome.
 */
export function createSegmentWriter(options: SegmentWriterOptions) {
  const { store, clock, deadline = DEADLINE, subscriber } = options;
  const nextUlid = ulidMaker();
  const replica = sanitiseReplica(options.replica);
  let writer = newName();
  let hour = '';
  let number = 0;
  const outcomes = createWriteOutcomes();

  function newName(): string {
    const name = `${nextUlid(clock())}-${replica}`;
    return subscriber === undefined ? name : `${subscriber}/${name}`;
  }

  function rename(): void {
    writer = newName();
    number = 0;
  }

  function nextKey(): string {
    const now = hourAt(clock());
    // The clock was set back. This name has already written to a later hour, so readers consider its numbers in this one complete.
    if (now < hour || number === LAST_NUMBER) rename();
    else if (now > hour) number = 0;
    hour = now;
    return segmentKey({ hour, writer, number: number + 1 });
  }

  async function write(lines: readonly SegmentLine[]): Promise<SegmentInfo> {
    assertClock(store.clockOffset());
    const key = nextKey();
    try {
      const message = `${key} was not written within ${deadline} ms`;
      const info = await withDeadline(writeSegment(store, key, lines), deadline, message);
      // The clock may have been changed since the last measurement, so that the hour of the key is wrong. This write has measured it.
      assertClock(store.clockOffset());
      number += 1;
      return info;
    } catch (error) {
      rename();
      if (error instanceof StoreError) throw error;
      const detail = error instanceof DeadlineError ? error.message : 'unexpected';
      throw new StoreError('ledger', detail, { cause: error });
    }
  }

  return {
    /** Resolves when the lines are durable. Throws `StoreError`; the lines may still be in the ledger then. Calls must not overlap. */
    write: (lines: readonly SegmentLine[]) => outcomes.watch(write(lines)),
    /** Why a segment would probably not be written now: a write hangs, or the last ones failed. Null when no fault is known. */
    fault: outcomes.fault,
  };
}

/** Tracks the outcomes of sequential writes. */
function createWriteOutcomes() {
  let begunAt: number | null = null;
  let failures = 0;
  let last: LedgerFault | null = null;
  return {
    async watch<T>(write: Promise<T>): Promise<T> {
      begunAt = performance.now();
      try {
        const written = await write;
        failures = 0;
        last = null;
        return written;
      } catch (error) {
        failures += 1;
        const { reason, condition } = diagnose(error);
        last = { reason, condition, at: performance.now() };
        throw error;
      } finally {
        begunAt = null;
      }
    },
    fault(): LedgerFault | null {
      const now = performance.now();
      if (begunAt !== null && now - begunAt > HANGING) {
        const seconds = Math.round((now - begunAt) / 1000);
        return { reason: `the ledger has not been written for ${seconds} s`, condition: null, at: now };
      }
      if (last === null || failures < FAILURES_OF_FAULT || now - last.at > FAULT_LIFETIME) return null;
      return last;
    },
  };
}

/** Writes the lines as one object, durable when it resolves. */
async function writeSegment(
  store: ObjectStore,
  key: string,
  lines: readonly SegmentLine[],
): Promise<SegmentInfo> {
  const started = performance.now();
  const body = bytesOf(lines);
  if (!(await createOrCompare(store, key, body)))
    throw new StoreError('ledger', `${key} does not hold the bytes that were written`);
  return { key, lines: lines.length, bytes: body.length, durationMs: performance.now() - started };
}

/**
 * Creates a segment. Its name is unique, so an existing one can only stem from this write, whose response was lost. Resolves to whether it
 * has these bytes. Throws `StoreError`.
 */
async function createOrCompare(store: ObjectStore, key: string, body: Buffer): Promise<boolean> {
  const headers = { contentType: 'application/x-ndjson', metadata: {} };
  if ((await store.create(key, body, headers)) === 'created') return true;
  const found = await readBytes(store, key, body.length);
  return found?.bytes?.equals(body) ?? false;
}

/** Encodes line by line: a joined text would be copied twice. */
function bytesOf(lines: readonly SegmentLine[]): Buffer {
  const body = Buffer.allocUnsafe(lines.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { text } of lines) {
    at += body.write(text, at);
    body[at] = LINE_FEED;
    at += 1;
  }
  return body;
}

const LINE_FEED = 0x0a;

/** Replica names come from host names. Characters that a key should not hold become `-`. */
function sanitiseReplica(replica: string): string {
  return replica.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64) || 'replica';
}
