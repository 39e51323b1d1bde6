import { describe, expect, it } from '@jest/globals';
import {
  afterDelivery,
  CLOSE_AFTER,
  dueEvent,
  OPEN_AFTER,
  type TrackedIssues,
  updateTracked,
} from '../../../../src/operations/admin/notice-state.js';
import { issueOf } from '../../../../src/operations/issues/issue-kinds.js';
import type { Issue } from '../../../../src/operations/issues/issues.js';
import type { HealthClosedEvent, HealthOpenedEvent } from '../../../../src/subscribers/receiver-event.js';

const START = Date.parse('2026-03-04T05:06:07.890Z');
const OPENED = 'transcript-receiver.health.opened.v1';
const CLOSED = 'transcript-receiver.health.closed.v1';
const QUARANTINE = issueOf('quarantine-growing', { bodies: 1 });
const MISSED = { source: null, missed: 9, lastHour: 9, jobs: 9, job: null, since: '' };
/** Nobody is notified of it. */
const LOADING = issueOf('ledger-loading', {});

/** Looks every 15 seconds, and delivers what is due at once; returns the notices by the second of their look. */
function timeline(seen: (second: number) => readonly Issue[], seconds: number, whole = (_: number) => true) {
  const sent: string[] = [];
  let state: TrackedIssues = {};
  for (let second = 0; second <= seconds; second += 15) {
    const now = START + second * 1000;
    state = updateTracked(state, { issues: seen(second), whole: whole(second) }, now);
    for (const known of Object.values(state)) {
      const event = dueEvent(known, 'file:/data', now);
      if (event === null) continue;
      sent.push(`${second} ${event.type.split('.')[2]} ${event.subject}`);
      state = afterDelivery(state, event);
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
      `${OPEN} opened quarantine-growing`,
      `${until - 15 + CLOSE} closed quarantine-growing`,
    ]);
  });

  it('announce again an issue that begins to fail, and its end once', () => {
    const seen = (second: number) => {
      if (second >= 1200) return [];
      return [issueOf('callbacks-missed', MISSED, second < 300 ? 'warning' : 'failing')];
    };
    expect(timeline(seen, 3600)).toEqual([
      `${OPEN} opened callbacks-missed`,
      '300 opened callbacks-missed',
      `${1185 + CLOSE} closed callbacks-missed`,
    ]);
  });

  it('announce an issue that shows in every second look', () => {
    expect(timeline((second) => (second % 30 === 0 ? [QUARANTINE] : []), 3600)).toHaveLength(1);
  });

  it('do not call an issue over while it could not be looked at', () => {
    const blind = (second: number) => second > 600 && second < 7200;
    const seen = (second: number) => (second < 600 ? [QUARANTINE] : []);
    expect(timeline(seen, 3 * 3600, (second) => !blind(second))).toEqual([
      `${OPEN} opened quarantine-growing`,
      `${7185 + CLOSE} closed quarantine-growing`,
    ]);
  });

  const look = (state: TrackedIssues, at: number, ...issues: Issue[]) =>
    updateTracked(state, { issues, whole: true }, START + at);
  const due = (state: TrackedIssues, at: number) => {
    const [known] = Object.values(state);
    return known === undefined ? null : dueEvent(known, 'file:/data', START + at);
  };
  const lasting1 = look(look({}, 0, QUARANTINE), OPEN_AFTER, QUARANTINE);
  const open = afterDelivery(lasting1, due(lasting1, OPEN_AFTER) as HealthOpenedEvent);

  it('announce the end of a warning whose failure could not be announced', () => {
    const warning = issueOf('callbacks-missed', MISSED);
    const lasting = look(look({}, 0, warning), OPEN_AFTER, warning);
    const open = afterDelivery(lasting, due(lasting, OPEN_AFTER) as HealthOpenedEvent);
    const worse = look(open, OPEN_AFTER + 1, issueOf('callbacks-missed', MISSED, 'failing'));
    expect(due(worse, OPEN_AFTER + 1)).toMatchObject({ type: OPENED, data: { level: 'failing' } });
    const over = OPEN_AFTER + 1 + CLOSE_AFTER;
    expect(due(look(worse, over), over)).toMatchObject({ type: CLOSED });
  });

  it('keep id and content until they are delivered', () => {
    const more = look(lasting1, 3600_000, issueOf('quarantine-growing', { bodies: 7 }));
    expect(due(more, 3600_000)).toEqual(due(lasting1, OPEN_AFTER));
    const gone = look(open, 3600_000);
    expect(due(look(gone, 3700_000), 3700_000)).toEqual(due(gone, 3600_000));
  });

  it('say nothing of the end of an issue that was never delivered', () => {
    expect(look(lasting1, OPEN_AFTER + CLOSE_AFTER)).toEqual({});
  });

  it('say nothing of an issue that returned before its end was delivered, and announce it anew after', () => {
    const closing = look(open, 3600_000);
    expect(due(closing, 3600_000)).toMatchObject({ type: CLOSED });
    expect(due(look(closing, 3600_000, QUARANTINE), 3600_000)).toBeNull();
    const closed = afterDelivery(closing, due(closing, 3600_000) as HealthClosedEvent);
    const again = look(look(closed, 3600_000, QUARANTINE), 3600_000 + OPEN_AFTER, QUARANTINE);
    expect(due(again, 3600_000 + OPEN_AFTER)).toMatchObject({ type: OPENED });
    expect(due(again, 3600_000 + OPEN_AFTER)?.id).not.toBe(due(lasting1, OPEN_AFTER)?.id);
  });
});
