import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { refetch } from '../../../../../src/recovery/reconcile/fetch/refetch.js';
import { ledgerOf } from '../../../../support/ledger/ledger-of.js';
import {
  CALLBACK_URL,
  type RecoveryFixture,
  recoveryFixture,
} from '../../../../support/recovery/recovery-fixture.js';

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

describe('a recovered job of two sources', () => {
  it('has a line of its own items in the ledger for each source, with the time that it took', async () => {
    const { lose, folder } = fixture;
    const jobId = await lose(
      {},
      {
        notify: [
          { url: CALLBACK_URL, contents: ['transcript'] },
          { url: CALLBACK_URL.replace('default', 'legal'), contents: ['transcript.txt'] },
        ],
      },
    );
    const sources = {
      default: { contents: [], keyPrefix: '' },
      legal: { contents: [], keyPrefix: 'legal/' },
    };
    let now = Date.now();
    const clock = () => {
      now += 1000;
      return now;
    };
    const parts = { ...fixture.parts, sources, clock };
    expect(await refetch(parts, { jobId })).toMatchObject({ outcome: 'recovered' });
    const lines = (await ledgerOf(folder)).map(({ source, items, durationMs }) => ({
      source,
      keys: items.map(({ key }) => key),
      isDuration: durationMs > 0 && durationMs < 60_000,
    }));
    expect(lines.sort((one, other) => (one.keys[0] ?? '').localeCompare(other.keys[0] ?? ''))).toEqual([
      { source: 'default', keys: [`jobs/${jobId}/transcript.json`], isDuration: true },
      { source: 'legal', keys: [`legal/jobs/${jobId}/transcript.txt`], isDuration: true },
    ]);
  });
});

describe('a recovered job whose entries have a context', () => {
  it('carries it in metadata and lines, the one of its entry', async () => {
    const { lose, folder, store } = fixture;
    const url = (context: string) => `${CALLBACK_URL}?team=x&${context}`;
    const jobId = await lose(
      {},
      {
        notify: [
          { url: url('call=a%2Fb&customer=%00'), contents: ['transcript', 'transcript.srt'] },
          { url: url('call=2&call=3'), contents: ['transcript.txt'] },
        ],
      },
    );
    const sources = { default: { contents: [], context: ['call', 'customer'], keyPrefix: '' } };
    expect(await refetch({ ...fixture.parts, sources }, { jobId })).toMatchObject({ outcome: 'recovered' });
    const lines = (await ledgerOf(folder)).sort((one, other) => other.items.length - one.items.length);
    expect(
      lines.map(({ items, context, contextOmitted }) => [items.length, context, contextOmitted]),
    ).toEqual([
      [2, { call: 'a/b' }, { customer: 'malformed' }],
      [1, undefined, { call: 'repeated' }],
    ]);
    const contextOf = async (name: string) =>
      (await store.head(`jobs/${jobId}/${name}`))?.metadata['context-call'];
    expect(await contextOf('transcript.json')).toBe('a/b');
    expect(await contextOf('transcript.srt')).toBe('a/b');
    expect(await contextOf('transcript.txt')).toBeUndefined();
  });
});
