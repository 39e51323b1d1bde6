import { expect } from '@jest/globals';
import { isDelivery, type LedgerLine } from '../../../src/domain/delivery.js';
import { QUARANTINE_STATES, settlesBodies, wantsMetBy } from '../../../src/domain/quarantined-body.js';
import { isInScope, type SourceScope } from '../../../src/domain/rights.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import { comparePlaces, type LinePlace } from '../../../src/ledger/log/line-place.js';
import type { Placed } from './indexed-ledger.js';

/** The quarantined bodies and their figures as a plain loop gives them, whole and page by page. */
export function expectBodies(index: LedgerIndex, lines: readonly Placed[], scope: SourceScope): void {
  const receivedAt = (place: LinePlace | null) =>
    (place && lines.find((each) => comparePlaces(each.place, place) === 0)?.line.receivedAt) ?? null;
  const all = bodiesOf(lines);
  for (const state of [undefined, ...QUARANTINE_STATES])
    for (const source of [undefined, 'intake']) {
      const expected = all.filter(
        (body) =>
          isInScope(scope, body.source) &&
          (source === undefined || body.source === source) &&
          (state === undefined || body.state === state),
      );
      const query = { state, source, scope };
      const found = index.findBodies({ ...query, limit: 1000 });
      expect(
        found.map(({ delivery, state: of, released, settled }) => [
          ...[delivery, of, receivedAt(released), receivedAt(settled)],
        ]),
      ).toEqual(expected.map((body) => [body.delivery, body.state, body.released, body.settled]));
      const pages: string[] = [];
      for (let before: string | undefined; ; before = pages.at(-1)) {
        const [next] = index.findBodies({ ...query, before, limit: 1 });
        if (next === undefined) break;
        pages.push(next.delivery);
      }
      expect(pages).toEqual(expected.map(({ delivery }) => delivery));
    }
  const count = (state: string) => all.filter((body) => body.state === state).length;
  expect(index.countBodies(0)).toEqual({
    ...Object.fromEntries(QUARANTINE_STATES.map((state) => [state, count(state)])),
    waitingBytes: all.reduce((sum, { state, bytes }) => sum + (state === 'waiting' ? bytes : 0), 0),
  });
}

function bodiesOf(lines: readonly Placed[]) {
  const bodies = lines.flatMap(({ line }) => {
    const own = lines.filter((each) => line.jobId !== null && each.line.jobId === line.jobId);
    const isKnown = line.outcome === 'quarantined' && line.jobId !== null;
    return isKnown && own.every((each) => each.line.outcome !== 'erased') ? [bodyOf(line, own, lines)] : [];
  });
  return bodies.sort((a, b) => (a.delivery < b.delivery ? 1 : -1));
}

function bodyOf(body: LedgerLine, own: readonly Placed[], lines: readonly Placed[]) {
  const ofSource = own.filter(({ line }) => line.source === null || line.source === body.source);
  const brought = ofSource.flatMap(({ line }) =>
    isDelivery(line.origin) ? line.items.flatMap(({ kind }) => wantsMetBy(kind)) : [],
  );
  const actsOn = (outcome: string) =>
    lines.filter(
      ({ line }) => line.jobId !== null && line.outcome === outcome && line.body === body.deliveryId,
    );
  const settling = ofSource.filter(
    ({ line }) => settlesBodies(line) !== null && line.receivedAt >= body.receivedAt,
  );
  const released = firstOf(actsOn('released'));
  const settled = firstOf([...actsOn('dismissed'), ...settling]);
  const isComplete = (body.wanted ?? ['any']).every((each) => brought.includes(each));
  const state = settled !== null || isComplete ? 'settled' : 'waiting';
  return {
    delivery: body.deliveryId,
    source: body.source,
    bytes: body.bytes,
    released,
    settled,
    state: released === null ? state : 'released',
  };
}

function firstOf(acts: readonly Placed[]): string | null {
  return acts.map(({ line }) => line.receivedAt).toSorted()[0] ?? null;
}
