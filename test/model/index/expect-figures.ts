import { expect } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { wantsMetBy } from '../../../src/domain/quarantined-body.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import { HOUR } from '../../../src/ledger/hours.js';
import type { Placed } from './indexed-ledger.js';
import { isStillTried } from './is-still-tried.js';

type Scope = ReadonlySet<string> | null;

const isOf = (scope: Scope) => (placed: Placed) => scope === null || scope.has(placed.line.source ?? '');
const received = ({ line }: Placed) => Date.parse(line.receivedAt);
const codeOf = ({ reason }: LedgerLine) => (reason === 'overloaded' ? reason : null);

export function lastOf(lines: readonly Placed[], scope: Scope) {
  const last = { byRegion: {}, byCredential: {} };
  const note = (times: Record<string, string>, name: string, time: string) => {
    if ((times[name] ?? '') < time) times[name] = time;
  };
  for (const { line, place } of lines) {
    const { origin, outcome, source, region, credential } = line;
    if (origin !== 'callback' || outcome === 'refused') continue;
    const written = new Date(place.written).toISOString();
    if (scope === null) note(last.byRegion, region ?? 'none', written);
    if (credential !== null) note(last.byCredential, `${source}/${credential}`, written);
  }
  return last;
}

/** Whether a callback had brought before all that the line brought: it was lost from the store since. */
export function wasBroughtBefore(lines: readonly Placed[], { line }: Placed): boolean {
  const brought = broughtByLine(line);
  const isBefore = (other: LedgerLine) =>
    other.origin === 'callback' &&
    other.outcome !== 'refused' &&
    other.jobId === line.jobId &&
    Date.parse(other.receivedAt) < Date.parse(line.receivedAt);
  const covers = (other: LedgerLine) => brought.every((kind) => broughtByLine(other).includes(kind));
  return brought.length > 0 && lines.some((each) => isBefore(each.line) && covers(each.line));
}

function broughtByLine({ items }: LedgerLine) {
  return items.flatMap(({ kind }) => wantsMetBy(kind));
}

const MISSED = ['recovered', 'noted', 'failed', 'unrecoverable'];

/** How callbacks fared in the hour and the day before an instant. */
export function expectCallbacks(
  index: LedgerIndex,
  lines: readonly Placed[],
  now: number,
  scope: Scope,
): void {
  const own = lines.filter(isOf(scope));
  const ofHour = own.filter(({ place }) => place.written >= now - HOUR);
  const accepted = own.filter(({ line }) => line.origin === 'callback' && line.outcome !== 'refused');
  const found = index.countCallbacks({ now, scope });
  const sources = [...new Set(own.map(({ line }) => line.source))];
  const expectedOf = sources.flatMap((source) => {
    const ofDay = accepted.filter((each) => each.line.source === source);
    const lately = ofDay.filter((each) => ofHour.includes(each));
    const figures = { requests: lately.length, jobs: jobsOf(lately).size };
    const lastAt = Math.max(...ofDay.map(({ place }) => place.written));
    return ofDay.length === 0 ? [] : [[source, { ...figures, lastAt }]];
  });
  expect(new Map(found.accepted)).toEqual(new Map(expectedOf as [string | null, never][]));

  const refused = ofHour.filter(
    (each) =>
      each.line.origin === 'callback' &&
      each.line.outcome === 'refused' &&
      !isStillTried({ reason: codeOf(each.line), received: received(each) }, now) &&
      !accepted.some(
        (other) =>
          other.line.jobId !== null &&
          other.line.jobId === each.line.jobId &&
          other.line.source === each.line.source &&
          received(other) >= received(each),
      ),
  );
  const names = [...new Set(refused.map(({ line }) => JSON.stringify([line.source, codeOf(line)])))];
  const groups = names.map((name) => {
    const [source, reason] = JSON.parse(name) as [string | null, string | null];
    const group = refused.filter(({ line }) => line.source === source && codeOf(line) === reason);
    const lastAt = found.accepted.get(source)?.lastAt ?? Number.NEGATIVE_INFINITY;
    const since = group.filter((each) => received(each) > lastAt);
    const count = (of: readonly Placed[]) =>
      jobsOf(of).size + of.filter(({ line }) => line.jobId === null).length;
    const first = Math.min(...group.map(received));
    return { source, reason, count: count(group), sinceAccepted: count(since), first };
  });
  const byName = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  expect(found.refused.toSorted(byName)).toEqual(groups.toSorted(byName));

  const missed = own.filter(
    ({ line }) =>
      line.origin === 'recovery' && line.actor === undefined && MISSED.includes(line.outcome) && line.jobId,
  );
  const late = missed.filter((each) => !wasBroughtBefore(lines, each));
  const { bySource, ...all } = found.missed;
  const missedOf = (source?: string | null) => {
    const own = late.filter(({ line }) => source === undefined || line.source === source);
    const newest = Math.max(...own.map(received));
    const { lastJob } = bySource.find((each) => each.source === source) ?? all;
    const isNewest = own.some((each) => received(each) === newest && each.line.jobId === lastJob);
    return {
      jobs: jobsOf(own).size,
      lastHour: jobsOf(own.filter((each) => ofHour.includes(each))).size,
      lastJob: own.length === 0 ? null : isNewest ? lastJob : 'the newest',
    };
  };
  expect(all).toEqual(missedOf());
  const missing = [...new Set(late.flatMap(({ line }) => line.source ?? []))].sort();
  expect(bySource).toEqual(missing.map((source) => ({ source, ...missedOf(source) })));
  const counted = [...accepted, ...missed].filter(({ line }) => line.jobId !== null);
  const jobsBy = (source: string | null) => jobsOf(counted.filter(({ line }) => line.source === source)).size;
  expect(index.countJobs({ since: found.daySince, scope })).toEqual(
    new Map([
      ...counted.map(({ line }): [string | null, number] => [line.source, jobsBy(line.source)]),
      [null, jobsOf(counted).size],
    ]),
  );
}

function jobsOf(lines: readonly Placed[]): Set<string | null> {
  return new Set(lines.map(({ line }) => line.jobId).filter((job) => job !== null));
}
