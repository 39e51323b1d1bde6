import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../support/dashboard/page-module.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';

const { describeLine } = pageModule('lib/text/describe-line');

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
    expect(described.title).toBe('Imported: transcript (json-v2), with different bytes');
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
    [{ outcome: 'erased', origin: 'replay' }, 'neutral', /erased/],
    [
      { outcome: 'ended', origin: 'retention', items: [], ended: { kind: 'data', objects: 2 } },
      'neutral',
      /^Media ended by retention: 2 objects$/,
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
