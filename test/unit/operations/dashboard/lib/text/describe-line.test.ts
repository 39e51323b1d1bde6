import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';
import { ledgerLine } from '../../../../../support/ledger/ledger-lines.js';

const { accessesInWords, describeLine } = pageModule('lib/text/describe-line');

const item = (kind: string, outcome = 'created') => ({ kind, key: 'k', size: 1, sha256: '', outcome });

describe('a ledger line in words', () => {
  it('describes what was stored, and its origin', () => {
    const line = ledgerLine({ items: [item('transcript.json-v2'), item('data')] as never });
    expect(describeLine(line)).toEqual({
      tone: 'good',
      title: 'A callback arrived and was stored: transcript (json-v2) and media',
      details: [
        'The service reported success.',
        '1.2 KiB in 12 ms from 40.74.41.91, region eu1 with credential primary.',
      ],
    });
  });

  it('reports that bytes differ for a conflict, not that nothing is new', () => {
    const items = [item('transcript.json-v2', 'conflict')] as never;
    const described = describeLine(ledgerLine({ origin: 'import', outcome: 'stored', items }));
    expect(described.details[0]).toBe('Stored: transcript (json-v2), with different bytes.');
  });

  it.each([
    [{ outcome: 'erased' }, 'Erased by anna: iPhone case. Done.', []],
    [
      { outcome: 'acknowledged' },
      'Acknowledged by anna: iPhone case. Done.',
      [/no longer listed as failing/],
    ],
    [{ outcome: 'dismissed' }, 'Dismissed by anna: iPhone case. Done.', [/no longer waits/]],
    [{ outcome: 'released' }, 'Released by anna: iPhone case. Done.', [/was decoded/]],
    [{ outcome: 'replayed' }, 'Refetch started by anna: iPhone case. Done.', []],
    [{ outcome: 'replayed', jobId: null }, 'Replay started by anna: iPhone case. Done.', []],
    [{ outcome: 'stored', origin: 'import' }, 'Imported by anna: iPhone case. Done.', [/^Stored/]],
    [{ outcome: 'acknowledged', reason: 'conflict' }, 'Acknowledged by anna: conflict', [/no longer/]],
    [{ outcome: 'erased', reason: null }, 'Erased by anna', []],
  ])('names the act of %j, who did it, and why, as typed', (fields, title, details) => {
    const act = { origin: 'replay', actor: 'anna', reason: 'iPhone case. Done.', bytes: 0, ...fields };
    const described = describeLine(ledgerLine(act as never));
    expect(described.title).toBe(title);
    expect(described.details).toEqual(details.map((text) => expect.stringMatching(text)));
  });

  it.each(['recovery', 'replay'] as const)(
    'says of a %s what it found without fetching anything',
    (origin) => {
      const line = (fields: object) => describeLine(ledgerLine({ origin, bytes: 0, ...fields } as never));
      const same = line({ outcome: 'duplicate', status: 'success', items: [item('data', 'identical')] });
      expect(same.title).toBe('Compared with the service, which has the same bytes: media');
      const none = line({ outcome: 'duplicate', status: null });
      expect(none.title).toBe('Nothing had to be fetched');
      const failed = line({ outcome: 'noted', status: 'fetch_error' });
      expect(failed).toMatchObject({
        tone: 'notice',
        title: expect.stringMatching(/no transcript, and its callback was lost/),
      });
      expect(failed.details).toEqual([
        'The service reported fetch_error: the service could not fetch the media.',
      ]);
      const withRecord = line({ outcome: 'recovered', status: 'error', items: [item('jobinfo')] });
      expect(withRecord.title).toMatch(/no transcript.* job/);
    },
  );

  it('says of a test callback of doctor that it is one', () => {
    const { tone, details } = describeLine(ledgerLine({ outcome: 'noted', status: 'doctor' }));
    expect({ tone, details }).toMatchObject({
      tone: 'neutral',
      details: expect.arrayContaining(['transcript-receiver doctor sent it as a test.']),
    });
  });

  it('explains the failure of a refetch, which is no reason that an operator typed', () => {
    const failed = { origin: 'replay', outcome: 'failed', actor: 'anna', reason: 'the service answered 503' };
    const described = describeLine(ledgerLine({ ...failed, bytes: 0 } as never));
    expect(described.title).toBe('A refetch failed');
    expect(described.details).toEqual(['The service answered 503.', 'By anna.']);
  });

  it.each([
    [
      { outcome: 'quarantined', reason: 'json-invalid' },
      'notice',
      /could not be decoded: the body is declared as JSON/,
    ],
    [{ outcome: 'refused', reason: 'body-too-large' }, 'bad', /rejected: the body was larger/],
    [{ outcome: 'noted', status: 'fetch_error' }, 'notice', /with nothing to store/],
    [{ outcome: 'recovered', origin: 'recovery' }, 'good', /Missing results were fetched/],
    [{ outcome: 'failed', origin: 'recovery', reason: 'the service answered 503' }, 'bad', /failed/],
    [{ outcome: 'erased', origin: 'replay' }, 'neutral', /^Erased$/],
    [
      { outcome: 'expired', origin: 'retention', items: [], expired: { kind: 'data', objects: 2 } },
      'neutral',
      /^Media expired: 2 objects$/,
    ],
  ])('%j is %s', (overrides, tone, title) => {
    const described = describeLine(ledgerLine(overrides as never));
    expect(described.tone).toBe(tone);
    expect(described.title).toMatch(title);
  });

  it.each(['constructor', '__proto__', 'toString', '<img onerror=x>'])(
    'takes %s for a word like any other',
    (word) => {
      const line = ledgerLine({ origin: word, outcome: word, reason: word, status: word } as never);
      const { title, details } = describeLine(line);
      expect(title).toContain(word);
      expect(details.every((text: unknown) => typeof text === 'string')).toBe(true);
    },
  );
});

describe('accesses in words', () => {
  const at = Date.parse('2026-03-04T12:00:00.000Z');
  const access = (actor: string | undefined, receivedAt: string) =>
    ledgerLine({ origin: 'admin', outcome: 'read', actor, receivedAt } as never);

  it('says how many there were, by whom, and when the last one was', () => {
    const lines = ['ben', 'anna', 'ben'].map((actor, n) => access(actor, `2026-03-04T05:06:0${n}.000Z`));
    expect(accessesInWords(lines, at)).toMatch(
      /^3 accesses to content by anna and ben, the last at .*:06:02$/,
    );
    expect(accessesInWords(lines.slice(0, 1), at)).toMatch(/^1 access to content by ben, the last at /);
  });

  it('counts the tokens when there are many', () => {
    const lines = Array.from({ length: 5 }, (_, n) => access(`a${n}`, '2026-03-04T05:06:07.000Z'));
    expect(accessesInWords(lines, at)).toMatch(/^5 accesses to content by 5 tokens, /);
  });
});
