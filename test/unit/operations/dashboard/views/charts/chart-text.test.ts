import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { notesOf, sentenceOf, uncounted } = pageModule('views/charts/chart-text');
const { periodCharts } = pageModule('views/charts/period-charts');

const SINCE = '2026-11-20T10:00:00.000Z';
const UNTIL = '2026-11-20T11:00:00.000Z';
const summary = (index: object) => ({
  ...{ since: SINCE, until: UNTIL, resolutionMs: 60_000 },
  index: { since: null, until: UNTIL, missing: [], ...index },
});
const notes = (index: object, unseen: readonly string[] = []) =>
  notesOf(summary(index), { unseen }).join(' ');

describe('what is said of the figures of a period', () => {
  it('is nothing where the index has all of it, also while new deliveries are on their way into it', () => {
    expect(notes({})).toBe('');
    expect(notes({ since: SINCE, until: '2026-11-20T10:59:00.000Z' })).toBe('');
  });

  it('is that deliveries are not counted before the index begins, and after it ends', () => {
    expect(notes({ since: '2026-11-20T10:20:00.000Z' })).toMatch(
      /^Not in the index of the ledger: lines written before [^.;]*\.$/,
    );
    expect(notes({ until: '2026-11-20T10:20:00.000Z' })).toMatch(
      /^Not in the index of the ledger: lines written after [^.;]*\.$/,
    );
    expect(uncounted(summary({ until: null }))).toMatch(/not built yet/);
  });

  it('is left to the verdict where that says what the index lacks', () => {
    expect(notes({ since: '2026-11-20T10:20:00.000Z' }, ['deliveries'])).toBe('');
    expect(notes({ since: '2026-11-20T10:20:00.000Z' }, ['verify'])).not.toBe('');
  });

  it('is that segments could not be read', () => {
    expect(notes({ missing: [{ key: 'a', segments: 1, unreadable: null }] })).toMatch(
      /: a, which is missing\.$/,
    );
  });
});

const BARS = { kind: 'bars', sum: null, times: [0, 60], countedSince: null, show: String };

describe('the text of a chart', () => {
  it('says since when it counts where the index lacks what is before', () => {
    const of = (figures: object) => {
      const parts = {
        lines: 1,
        bytes: 1,
        callbacks: 1,
        refused: 0,
        outcomes: { stored: 1 },
        regions: {},
        duration: null,
      };
      const answer = { ...summary(figures), buckets: [{ ...parts, start: SINCE }], total: parts };
      return periodCharts(answer, () => '')[0];
    };
    expect(sentenceOf(of({}))).not.toContain('Not counted');
    expect(sentenceOf(of({ since: SINCE }))).not.toContain('Not counted');
    expect(sentenceOf(of({ since: '2026-11-20T10:20:00.000Z' }))).toMatch(
      /^1 stored\. .* Not counted: what came before .*10:20:00\.$/,
    );
  });

  it('adds up numbers, and no shares', () => {
    const chart = { ...BARS, sum: '0.2 %', show: (n: number) => `${n} %` };
    const series = [{ label: 'not answered 2xx', values: [4, 1] }];
    expect(sentenceOf({ ...chart, id: 'share', series })).toMatch(/^0\.2 % not answered 2xx\. Most at /);
    expect(sentenceOf({ ...chart, id: 'outcomes', series })).toMatch(/^5 % not answered 2xx\. Most at /);
  });
});
