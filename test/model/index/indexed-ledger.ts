import fc from 'fast-check';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { commonReason, failureCauses } from '../../../src/domain/failure-causes.js';
import { openFailure } from '../../../src/domain/failure-rules.js';
import { EVENT_ENDS, type SentAttempt } from '../../../src/domain/sent-attempt.js';
import type { SegmentContent } from '../../../src/index/apply/segment-content.js';
import { HOUR, hourAt, startOfHour } from '../../../src/ledger/hours.js';
import { comparePlaces } from '../../../src/ledger/log/line-place.js';
import type { PlacedLine } from '../../../src/ledger/log/read-lines-at.js';
import type { LineSpan } from '../../../src/ledger/parse-segment.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';

/** A line with its place, as a plain loop over all lines knows it. */
export interface Placed {
  readonly place: PlacedLine;
  readonly line: LedgerLine;
}

export const FIRST = Date.parse('2026-03-04T08:00:00.000Z');

const drawnLine = fc.record({
  jobId: fc.constantFrom('Alpha', 'beta', 'gamma', 'alphabet', null),
  outcome: fc.constantFrom(
    ...(['stored', 'failed', 'refused', 'conflict', 'noted', 'acknowledged', 'chosen', 'read'] as const),
    ...(['recovered', 'quarantined', 'quarantined', 'released', 'dismissed', 'erased', 'duplicate'] as const),
  ),
  source: fc.constantFrom('intake', 'elsewhere', null),
  region: fc.constantFrom('eu1', null),
  status: fc.constantFrom('success', 'error'),
  origin: fc.constantFrom(...(['callback', 'callback', 'recovery', 'replay', 'import', 'admin'] as const)),
  credential: fc.constantFrom('one', 'two', null),
  reason: fc.constantFrom(null, 'overloaded', 'words of an operator', 'jobs/Alpha/data: no room'),
  context: fc.constantFrom(undefined, { call: '1' }, { call: '1', customer: 'acme' }),
  contextOmitted: fc.constantFrom(undefined, undefined, { customer: 'malformed' as const }),
  actor: fc.constantFrom(undefined, undefined, 'alice'),
  /** Kinds of its items. */
  brought: fc.constantFrom(
    [],
    [],
    ['transcript.srt'] as const,
    ['jobinfo'] as const,
    ['data', 'jobinfo'] as const,
  ),
  wanted: fc.constantFrom(
    ...[undefined, ['transcript'] as const, ['transcript.txt'] as const, ['jobinfo', 'transcript'] as const],
  ),
  /** Number of the line that it released or dismissed the body of. */
  body: fc.nat(100),
  bytes: fc.nat(5000),
  durationMs: fc.integer({ min: 0, max: 100_000 }),
  /** Milliseconds from its receipt until it was written. */
  delay: fc.oneof(fc.constantFrom(0, 1000), fc.integer({ min: 0, max: 3 * HOUR })),
  /** Milliseconds from when its callback was expected until its receipt; a clock may be wrong. */
  late: fc.option(fc.integer({ min: -1000, max: HOUR }), { nil: undefined }),
});

/** Seconds, as S3 tells times: many segments have the same. */
const drawnAt = fc.oneof(fc.integer({ min: 0, max: 4 * 3600 - 1 }), fc.constantFrom(0, 10, 3599, 3600));

const drawnAttempt = fc.record({
  event: fc.nat(7),
  status: fc.constantFrom(200, 410, 503, null),
  attempt: fc.nat(3),
  ended: fc.constantFrom(...EVENT_ENDS, null, null),
  line: fc.option(fc.record({ hour: fc.nat(3), number: fc.integer({ min: 1, max: 4 }) })),
});

const drawnSegment = fc.record({
  writer: fc.constantFrom('one', 'two', 'three'),
  at: drawnAt,
  lines: fc.array(drawnLine, { minLength: 1, maxLength: 4 }),
});

const drawnSent = fc.record({
  writer: fc.constantFrom('crm/one', 'crm/two', 'erp/one'),
  at: drawnAt,
  attempts: fc.array(drawnAttempt, { minLength: 1, maxLength: 4 }),
});

export const drawnLedger = fc.record({
  written: fc.array(drawnSegment, { minLength: 1, maxLength: 30 }),
  sent: fc.array(drawnSent, { maxLength: 12 }),
});
export type DrawnLedger = typeof drawnLedger extends fc.Arbitrary<infer T> ? T : never;

/** An attempt to send an event, and the segment that says so. */
export interface PlacedAttempt {
  readonly subscriber: string;
  readonly place: Omit<PlacedLine, 'span'>;
  readonly attempt: SentAttempt;
}

/** The segments in the order of writing, and their lines. */
export function writeLedger({ written: drawn, sent }: DrawnLedger): {
  segments: SegmentContent[];
  lines: Placed[];
  attempts: PlacedAttempt[];
} {
  const numbers = new Map<string, number>();
  const total = drawn.reduce((sum, { lines: own }) => sum + own.length, 0);
  let counter = 0;
  const lines: Placed[] = [];
  const attempts: PlacedAttempt[] = [];
  const placeOf = (writer: string, at: number) => {
    const written = FIRST + at * 1000;
    const hour = startOfHour(hourAt(written));
    const number = (numbers.get(hour + writer) ?? 0) + 1;
    numbers.set(hour + writer, number);
    return { hour, written, writer, number };
  };
  const contentOf = (made: readonly object[]) =>
    Buffer.from(made.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const sentSegments = sent
    .toSorted((a, b) => a.at - b.at)
    .map(({ writer, at, attempts: own }) => {
      const place = placeOf(writer, at);
      const made = own.map((each, line) => attemptOf(each, place.written + attempts.length + line));
      for (const [line, attempt] of made.entries())
        attempts.push({ subscriber: writer.slice(0, 3), place: { ...place, line }, attempt });
      return { ...place, content: contentOf(made) };
    });
  const segments = drawn
    .toSorted((a, b) => a.at - b.at)
    .map(({ writer, at, lines: own }) => {
      const { hour, written, number } = placeOf(writer, at);
      const made = own.map(({ delay, late, brought, body, ...fields }) => {
        const due = late === undefined ? undefined : new Date(written - delay - late).toISOString();
        counter += 1;
        const items = brought.map((kind) => ({
          kind,
          key: kind,
          size: 1,
          sha256: '',
          outcome: 'created',
        }));
        const ids = { deliveryId: idOf(counter), body: idOf(1 + (body % total)) };
        const times = { receivedAt: new Date(written - delay).toISOString(), expectedAt: due };
        return ledgerLine({ ...fields, ...times, ...ids, items } as Partial<LedgerLine>);
      });
      const spans = spansOf(made);
      for (const [index, line] of made.entries()) {
        const place = {
          hour,
          written,
          writer,
          number,
          line: index,
          span: spans[index] ?? { start: 0, length: 0 },
        };
        lines.push({ place, line });
      }
      return { hour, writer, number, written, content: contentOf(made) };
    });
  return {
    segments: [...segments, ...sentSegments].sort((a, b) => a.written - b.written),
    lines: lines.sort((a, b) => comparePlaces(a.place, b.place)),
    attempts,
  };
}

/** Where the lines are in the text of their segment. */
export function spansOf(lines: readonly object[]): LineSpan[] {
  let start = 0;
  return lines.map((line) => {
    const length = Buffer.byteLength(JSON.stringify(line));
    start += length + 1;
    return { start: start - length - 1, length };
  });
}

function idOf(line: number): string {
  return `01MADE${String(line).padStart(20, '0')}`;
}

function attemptOf(
  { event, status, attempt, ended, line }: typeof drawnAttempt extends fc.Arbitrary<infer T> ? T : never,
  at: number,
): SentAttempt {
  const place = line && { hour: hourAt(FIRST + line.hour * HOUR), writer: 'one', number: line.number };
  return {
    v: 1,
    event: `event-${event}`,
    jobId: event % 2 === 0 ? 'Alpha' : 'beta',
    source: ['intake', 'elsewhere', null][event % 3] ?? null,
    type: 'job.stored',
    at: new Date(at).toISOString(),
    status,
    error: status === null ? 'timeout' : null,
    attempt,
    ended,
    durationMs: event,
    line: place && segmentKey(place),
  };
}

/** Which lines exist for a client with some sources, as `rowScope` has it for the engine. */
export function existsFor(lines: readonly Placed[], scope: ReadonlySet<string> | undefined) {
  return ({ line }: Placed): boolean => {
    if (scope === undefined) return true;
    if (line.source !== null) return scope.has(line.source);
    const others = lines.filter((each) => each.line.jobId === line.jobId && each.line.source !== null);
    return (
      line.jobId !== null && others.length > 0 && others.every((each) => scope.has(each.line.source ?? ''))
    );
  };
}

/** The failing jobs by a plain loop: the oldest job first. */
export function failingOf(lines: readonly Placed[], scope: ReadonlySet<string> | null) {
  const jobs = [...new Set(lines.flatMap(({ line }) => line.jobId ?? []))];
  const failing = jobs.flatMap((job) => {
    const own = lines.filter(({ line }) => line.jobId === job);
    // Among equal times the last in the log counts.
    const newestFirst = own.map(({ line, place }) => ({ ...line, place })).reverse();
    const open = openFailure(newestFirst, ({ source }) => scope === null || scope.has(source ?? ''));
    const times = own.flatMap(({ line: { origin, receivedAt, expectedAt = receivedAt } }) =>
      origin === 'recovery' ? [receivedAt, expectedAt] : [receivedAt],
    );
    const first = Math.min(...times.map((time) => Date.parse(time)));
    if (open === null) return [];
    const line = { ...open, reason: open.reason && commonReason(open.reason, job) };
    return [{ job, place: open.place, outcome: open.outcome, first, line }];
  });
  failing.sort((a, b) => a.first - b.first || (a.job < b.job ? -1 : 1));
  return failing;
}

export function causesOfLines(lines: readonly LedgerLine[]) {
  return failureCauses(
    lines.map((line) => ({ ...line, count: 1, first: line.receivedAt, last: line.receivedAt })),
  );
}
