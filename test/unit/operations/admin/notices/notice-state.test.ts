import { describe, expect, it } from '@jest/globals';
import {
  afterDelivery,
  afterLook,
  afterOtherReplica,
  afterTakeOver,
  CLOSE_AFTER,
  OPEN_AFTER,
  type TrackedIssues,
} from '../../../../../src/operations/admin/notices/notice-state.js';
import { issueOf } from '../../../../../src/operations/health/issue-kinds.js';
import type { Issue } from '../../../../../src/operations/health/issues.js';

const START = Date.parse('2026-03-04T05:06:07.890Z');
const QUARANTINE = issueOf('quarantine-growing', { bodies: 1 });
/** Nobody is notified of it. */
const LOADING = issueOf('ledger-loading', {});

/** Looks every 15 seconds, and delivers what is pending at once; returns the notices by the second of their look. */
function timeline(seen: (second: number) => readonly Issue[], seconds: number, whole = (_: number) => true) {
  const sent: string[] = [];
  let state: TrackedIssues = {};
  let ids = 0;
  for (let second = 0; second <= seconds; second += 15) {
    const looked = { issues: seen(second), whole: whole(second) };
    state = afterLook(state, looked, START + second * 1000, () => `id-${++ids}`);
    for (const [name, { state: now, pending }] of Object.entries(state)) {
      if (pending === null) continue;
      sent.push(`${second} ${now} ${name}`);
      state = afterDelivery(state, name);
    }
  }
  return sent;
}

const OPEN = OPEN_AFTER / 1000;
const CLOSE = CLOSE_AFTER / 1000;

describe('notices of health', () => {
  it('announce an issue once when it lasts, and once when it is gone for long enough', () => {
    const until = 3600;
    expect(timeline((second) => (second < until ? [QUARANTINE, LOADING] : []), 3 * 3600)).toEqual([
      `${OPEN} opening quarantine-growing`,
      `${until - 15 + CLOSE} closing quarantine-growing`,
    ]);
  });

  it('announce again an issue that begins to fail, and its end once', () => {
    const missed = { missed: 9, lastHour: 9, jobs: 9, job: null, since: '' };
    const seen = (second: number) => {
      if (second >= 1200) return [];
      return [issueOf('callbacks-missed', missed, second < 300 ? 'warning' : 'failing')];
    };
    expect(timeline(seen, 3600)).toEqual([
      `${OPEN} opening callbacks-missed`,
      '300 opening callbacks-missed',
      `${1185 + CLOSE} closing callbacks-missed`,
    ]);
  });

  it('announce the end of a warning whose failure could not be announced', () => {
    const missed = { missed: 9, lastHour: 9, jobs: 9, job: null, since: '' };
    const at = (ms: number, issues: Issue[], state: TrackedIssues) =>
      afterLook(state, { issues, whole: true }, START + ms, () => `id-${ms}`);
    const warned = [issueOf('callbacks-missed', missed)];
    const open = afterDelivery(at(OPEN_AFTER, warned, at(0, warned, {})), 'callbacks-missed');
    const worse = at(OPEN_AFTER + 1, [issueOf('callbacks-missed', missed, 'failing')], open);
    expect(worse['callbacks-missed']).toMatchObject({ state: 'opening', notice: { level: 'failing' } });
    const over = at(OPEN_AFTER + 1 + CLOSE_AFTER, [], worse);
    expect(over['callbacks-missed']).toMatchObject({ state: 'closing' });
  });

  it('say nothing of an issue that does not last', () => {
    expect(timeline((second) => (second < OPEN ? [QUARANTINE] : []), 3600)).toEqual([]);
  });

  it('announce a flapping problem once', () => {
    const flapping = (second: number) => (second % 180 < 90 ? [QUARANTINE] : []);
    expect(timeline(flapping, 6 * 3600)).toEqual([`${OPEN} opening quarantine-growing`]);
  });

  it('announce an issue that shows in every second look', () => {
    expect(timeline((second) => (second % 30 === 0 ? [QUARANTINE] : []), 3600)).toHaveLength(1);
  });

  it('do not call an issue over while it could not be looked at', () => {
    const blind = (second: number) => second > 600 && second < 7200;
    const seen = (second: number) => (second < 600 ? [QUARANTINE] : []);
    expect(timeline(seen, 3 * 3600, (second) => !blind(second))).toEqual([
      `${OPEN} opening quarantine-growing`,
      `${7185 + CLOSE} closing quarantine-growing`,
    ]);
  });

  const opened = () => {
    const first = afterLook({}, { issues: [QUARANTINE], whole: true }, START, () => 'id-1');
    return afterLook(first, { issues: [QUARANTINE], whole: true }, START + OPEN_AFTER, () => 'id-1');
  };
  const gone = (state: TrackedIssues, at: number) =>
    afterLook(state, { issues: [], whole: true }, START + at, () => 'id-2');

  it('keep the id until the notice is delivered', () => {
    const again = afterLook(opened(), { issues: [QUARANTINE], whole: true }, START + 3600_000, () => 'id-2');
    expect(again['quarantine-growing']?.pending?.id).toBe('id-1');
  });

  it('say nothing of the end of an issue that was never delivered', () => {
    expect(gone(opened(), OPEN_AFTER + CLOSE_AFTER)).toEqual({});
  });

  it('announce an issue again that returned while its end was not delivered yet', () => {
    const closing = gone(afterDelivery(opened(), 'quarantine-growing'), OPEN_AFTER + CLOSE_AFTER);
    expect(closing['quarantine-growing']).toMatchObject({ state: 'closing', pending: { id: 'id-2' } });
    const look = (state: TrackedIssues, at: number) =>
      afterLook(state, { issues: [QUARANTINE], whole: true }, START + at, () => 'id-3');
    const back = look(closing, 3600_000);
    expect(back['quarantine-growing']).toMatchObject({ state: 'closing', pending: { id: 'id-2' } });
    const again = look(look(afterDelivery(back, 'quarantine-growing'), 3600_000), 3600_000 + OPEN_AFTER);
    expect(again['quarantine-growing']).toMatchObject({ state: 'opening', pending: { id: 'id-3' } });
  });

  it('give up after a day', () => {
    expect(gone(gone(afterDelivery(opened(), 'quarantine-growing'), 3600_000), 26 * 3600_000)).toEqual({});
  });

  it('go on with the stored state after a take-over, without calling its issues over at once', () => {
    const open = afterDelivery(opened(), 'quarantine-growing');
    const taken = afterTakeOver({}, open, START + 7200_000);
    expect(gone(taken, 7200_000 + CLOSE_AFTER - 1)['quarantine-growing']?.state).toBe('open');
    expect(gone(taken, 7200_000 + CLOSE_AFTER)['quarantine-growing']?.state).toBe('closing');
  });

  it('end what was announced without the store once another replica has the claim', () => {
    const open = afterDelivery(opened(), 'quarantine-growing');
    expect(afterOtherReplica(open, {}, START, () => 'id-9')).toEqual({
      'quarantine-growing': expect.objectContaining({ state: 'closing', pending: { id: 'id-9', at: START } }),
    });
    expect(afterOtherReplica(open, open, START, () => 'id-9')).toEqual({});
    expect(afterOtherReplica(opened(), {}, START, () => 'id-9')).toEqual({});
  });
});
