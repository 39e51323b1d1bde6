import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { notesOf, uncounted } = pageModule('views/charts/chart-text');

const SINCE = '2026-11-20T10:00:00.000Z';
const UNTIL = '2026-11-20T11:00:00.000Z';
const summary = (index: object) => ({
  since: SINCE,
  until: UNTIL,
  resolutionMs: 60_000,
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
      /: a, which is missing or cannot be read\.$/,
    );
  });
});
