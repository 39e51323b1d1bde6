import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import type { StoredItem } from '../../../src/domain/item.js';
import { isWanted, jobEventOf } from '../../../src/subscribers/job-event.js';
import type { JobEvent } from '../../../src/subscribers/receiver-event.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';

const item = (outcome: StoredItem['outcome']): StoredItem => ({
  kind: 'transcript.json-v2',
  key: 'jobs/j1/transcript.json',
  size: 5,
  sha256: 'ab',
  outcome,
});

const LOCATION = 's3://bucket/prefix/';

function typeOf(overrides: Partial<LedgerLine>): string | null {
  return jobEventOf(ledgerLine(overrides), LOCATION)?.type.split('.').slice(1, 3).join('.') ?? null;
}

describe('jobEventOf', () => {
  it.each<[string | null, Partial<LedgerLine>]>([
    ['job.stored', { outcome: 'stored', items: [item('created')] }],
    ['job.stored', { outcome: 'stored', items: [item('identical'), item('created')] }],
    ['job.stored', { outcome: 'conflict', items: [item('conflict')] }],
    ['job.stored', { outcome: 'recovered', origin: 'recovery', items: [item('created')] }],
    ['job.stored', { outcome: 'recovered', origin: 'replay', status: null, items: [item('created')] }],
    ['job.stored', { outcome: 'released', origin: 'replay', items: [item('created')] }],
    ['job.stored', { outcome: 'stored', origin: 'import', source: null, items: [item('created')] }],
    ['job.stored', { outcome: 'stored', origin: 'realtime', items: [item('created')] }],
    ['job.stored', { outcome: 'failed', origin: 'recovery', items: [item('created')] }],
    ['job.stored', { outcome: 'stored', status: 'of_the_future', items: [item('created')] }],
    ['job.stored', { outcome: 'chosen', origin: 'replay', items: [item('created'), item('conflict')] }],
    [null, { outcome: 'chosen', origin: 'replay', items: [item('identical')] }],
    ['job.failed', { outcome: 'stored', status: 'error', items: [item('created')] }],
    ['job.failed', { outcome: 'noted', status: 'error' }],
    ['job.failed', { outcome: 'noted', status: 'fetch_error' }],
    ['job.failed', { outcome: 'noted', status: 'trim_error' }],
    ['job.failed', { outcome: 'quarantined', status: 'error' }],
    ['job.failed', { outcome: 'noted', status: 'of_the_future' }],
    ['job.failed', { outcome: 'unrecoverable', origin: 'recovery', status: null }],
    ['job.failed', { outcome: 'unrecoverable', origin: 'recovery', items: [item('created')] }],
    ['job.erased', { outcome: 'erased', source: null, status: null }],
    [null, { outcome: 'duplicate', items: [item('identical')] }],
    [null, { outcome: 'duplicate', status: 'error', items: [item('identical')] }],
    [null, { outcome: 'recovered', origin: 'recovery', items: [item('identical')] }],
    [null, { outcome: 'noted' }],
    [null, { outcome: 'noted', status: null }],
    [null, { outcome: 'noted', status: 'doctor' }],
    [null, { outcome: 'noted', status: 'error', reason: 'erased' }],
    [null, { outcome: 'quarantined' }],
    [null, { outcome: 'refused', status: 'error' }],
    [null, { outcome: 'failed', origin: 'recovery' }],
    [null, { outcome: 'failed', origin: 'recovery', items: [item('identical')] }],
    [null, { outcome: 'replayed', jobId: null }],
    [null, { outcome: 'acknowledged' }],
    [null, { outcome: 'dismissed', status: 'error' }],
    [null, { outcome: 'release-failed', status: 'error' }],
    [null, { outcome: 'cancelled' }],
    [null, { outcome: 'erased', jobId: null }],
  ])('is %s for %j', (expected, overrides) => {
    expect(typeOf(overrides)).toBe(expected);
  });

  it('says who chose a version and why, and of no other line', () => {
    const items = [item('created')];
    const act = { origin: 'replay', items, actor: 'ada', reason: 'the customer says so' } as const;
    const chosen = jobEventOf(ledgerLine({ ...act, outcome: 'chosen' }), LOCATION);
    expect(chosen?.data).toMatchObject({ actor: 'ada', reason: 'the customer says so' });
    const released = jobEventOf(ledgerLine({ ...act, outcome: 'released' }), LOCATION);
    expect(released?.data).not.toHaveProperty('actor');
    expect(released?.data).not.toHaveProperty('reason');
  });

  it('says what the line says, with the address of every item', () => {
    const line = ledgerLine({
      deliveryId: '01KJX3VZ8Q4M7T9B0C2D5E6F7G',
      jobId: 'j1',
      source: 'intake',
      context: { call: '7' },
      items: [item('created')],
    });
    expect(jobEventOf(line, LOCATION)).toEqual({
      specversion: '1.0',
      id: '01KJX3VZ8Q4M7T9B0C2D5E6F7G',
      type: 'transcript-receiver.job.stored.v1',
      source: '/callbacks/intake',
      subject: 'j1',
      time: line.receivedAt,
      datacontenttype: 'application/json',
      data: {
        jobId: 'j1',
        source: 'intake',
        region: 'eu1',
        status: 'success',
        origin: 'callback',
        outcome: 'stored',
        context: { call: '7' },
        items: [{ ...item('created'), uri: 's3://bucket/prefix/jobs/j1/transcript.json' }],
      },
    });
  });

  it('is the one that docs/downstream.md shows', () => {
    const text = /^```json\n(.*?)^```$/ms.exec(readFileSync('docs/downstream.md', 'utf8'))?.[1] ?? '';
    const shown = JSON.parse(text) as JobEvent;
    const line = ledgerLine({
      deliveryId: shown.id,
      receivedAt: shown.time,
      ...shown.data,
    } as Partial<LedgerLine>);
    expect(shown).toEqual(jobEventOf(line, 's3://transcripts'));
  });

  it.each([
    ['s3://bucket/', 's3://bucket/jobs/j1/transcript.json'],
    ['file:/var/my data', 'file:///var/my%20data/jobs/j1/transcript.json'],
  ])('has addresses below %s', (location, uri) => {
    const event = jobEventOf(ledgerLine({ items: [item('created')] }), location);
    expect(event?.data.items[0]?.uri).toBe(uri);
  });
});

describe('isWanted', () => {
  const stored = (source: string | null) =>
    jobEventOf(ledgerLine({ source, items: [item('created')] }), LOCATION) ?? fail();
  const erased = jobEventOf(ledgerLine({ outcome: 'erased', source: null }), LOCATION) ?? fail();
  const events = ['job.stored', 'job.erased'];

  it.each<[boolean, string, boolean]>([
    [true, 'of any source, without sources', isWanted(stored('a'), { events, sources: [] })],
    [true, 'without a source, without sources', isWanted(stored(null), { events, sources: [] })],
    [true, 'of a source', isWanted(stored('a'), { events, sources: ['a', 'b'] })],
    [false, 'of another source', isWanted(stored('c'), { events, sources: ['a', 'b'] })],
    [false, 'without a source, with sources', isWanted(stored(null), { events, sources: ['a'] })],
    [
      false,
      'that is an erasure of no known source, with sources',
      isWanted(erased, { events, sources: ['a'] }),
    ],
    [false, 'of another type', isWanted(erased, { events: ['job.stored'], sources: [] })],
  ])('%s: an event %s', (expected, _, result) => {
    expect(result).toBe(expected);
  });
});

function fail(): never {
  throw new Error('no event');
}
