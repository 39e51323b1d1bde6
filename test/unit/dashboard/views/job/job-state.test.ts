import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../support/dashboard/page-module.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';

const { jobState } = pageModule('views/job/job-state');

const endedAt = '2026-03-04T05:06:07.089Z';
const ended = (kind: string) => ({ kind, objects: 2, bytes: 10, endedAt });
const artefact = (kind: string) => ({ kind, key: `jobs/j1/${kind}` });
const quarantined = ledgerLine({ outcome: 'quarantined', items: [] });
const nothing = { artefacts: [], timeline: [], failure: null, service: null, ended: [], erasure: null };
const stateOf = (job: object, bodies: readonly object[] = []) => jobState({ ...nothing, ...job }, bodies);
const failed = ledgerLine({ origin: 'recovery', outcome: 'failed', items: [] });

describe('the state of a job of which something ended by its age', () => {
  it.each([
    [
      'its transcript',
      { ended: [ended('transcript')] },
      'Ended by retention',
      /^Transcripts ended by retention at /,
    ],
    [
      'its transcript, after a failure that was settled',
      { ended: [ended('transcript')], timeline: [failed] },
      'Ended by retention',
      /./,
    ],
    [
      'its media',
      { ended: [ended('data')], artefacts: [artefact('transcript.txt')] },
      'Stored',
      /is stored\. Media ended by retention at .* \(2 objects\)\.$/,
    ],
    [
      'its media, while the transcript is missing',
      { ended: [ended('data')], timeline: [failed], failure: failed },
      'Missing',
      /failed/,
    ],
  ])('%s', (_what, job, word, text) => {
    const state = stateOf(job);
    expect(state).toMatchObject({ word, text: expect.stringMatching(text) });
    expect(state.repair).toBe(word === 'Missing' ? 'refetch' : null);
  });

  it('a body in quarantine, which can still be fetched', () => {
    const job = { ended: [ended('quarantine')], timeline: [quarantined] };
    const state = stateOf(job);
    expect(state).toMatchObject({ word: 'Ended by retention', repair: 'refetch' });
  });
});

describe('the state of a job with an open failure', () => {
  const refused = { outcome: 'refused', reason: 'body-too-large', receivedAt: endedAt };
  const conflict = { outcome: 'conflict', reason: null, receivedAt: endedAt };
  const transcript = artefact('transcript.txt');
  const version = { kind: 'transcript.txt', key: 'jobs/j1/conflicts/0123/transcript.txt' };
  const acknowledged = ledgerLine({ origin: 'replay', outcome: 'acknowledged' });
  const settled = {
    state: 'settled',
    settlement: { by: 'dismissed', settledAt: endedAt, actor: 'ops', reason: 'x' },
  };
  const erasure = { erasedAt: endedAt, complete: true, keptUntil: null };

  it.each<[string, object, string, string, string | null]>([
    ['nothing but it', { failure: refused }, 'bad', 'Missing', 'refetch'],
    ['a loss', { failure: { ...refused, outcome: 'unrecoverable' } }, 'bad', 'Missing', 'import'],
    ['a transcript', { artefacts: [transcript], failure: refused }, 'bad', 'Failing', 'refetch'],
    [
      'an attempt after it',
      { timeline: [ledgerLine({ outcome: 'replayed' })], failure: refused },
      'bad',
      'Missing',
      'refetch',
    ],
    [
      'a status other than success',
      { timeline: [ledgerLine({ status: 'error' })], failure: refused },
      'bad',
      'Missing',
      'refetch',
    ],
    ['a conflict', { artefacts: [transcript, version], failure: conflict }, 'notice', 'Conflict', null],
    [
      'an acknowledged conflict',
      { artefacts: [transcript, version], timeline: [acknowledged], failure: refused },
      'bad',
      'Failing',
      'refetch',
    ],
    ['an erasure', { erasure, failure: refused }, 'notice', 'Erased', null],
  ])('and %s', (_what, job, tone, word, repair) => {
    expect(stateOf(job)).toMatchObject({ tone, word, repair });
  });

  it('and of one that was settled', () => {
    expect(stateOf({ failure: refused }, [settled])).toMatchObject({ word: 'Missing' });
    expect(stateOf({ timeline: [failed] }, [settled])).toMatchObject({ word: 'Settled' });
    expect(stateOf({ artefacts: [transcript, version], timeline: [acknowledged] })).toMatchObject({
      word: 'Acknowledged',
    });
    // Lines that the search has not reached say nothing.
    expect(stateOf({ artefacts: [transcript, version] })).toMatchObject({ word: 'Conflict' });
    expect(stateOf({ erasure })).toMatchObject({ tone: 'neutral', word: 'Erased' });
  });
});
