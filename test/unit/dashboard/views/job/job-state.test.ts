import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../support/dashboard/page-module.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';

const { jobState } = pageModule('views/job/job-state');

const endedAt = '2026-03-04T05:06:07.089Z';
const ended = (kind: string) => ({ kind, objects: 2, bytes: 10, endedAt });
const artefact = (kind: string) => ({ kind, key: `jobs/j1/${kind}` });
const quarantined = ledgerLine({ outcome: 'quarantined', items: [] });
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
      'its transcript, after a failure',
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
      { ended: [ended('data')], timeline: [failed] },
      'Missing',
      /failed/,
    ],
  ])('%s', (_what, job, word, text) => {
    const state = jobState({ artefacts: [], timeline: [], service: null, erasure: null, ...job }, []);
    expect(state).toMatchObject({ word, text: expect.stringMatching(text) });
    expect(state.repair).toBe(word === 'Missing' ? 'refetch' : null);
  });

  it('a body in quarantine, which can still be fetched', () => {
    const job = { ended: [ended('quarantine')], timeline: [quarantined] };
    const state = jobState({ artefacts: [], service: null, erasure: null, ...job }, []);
    expect(state).toMatchObject({ word: 'Ended by retention', repair: 'refetch' });
  });
});
