import { beforeAll, describe, expect, it } from '@jest/globals';
import { SWEEP_AFTER } from '../../../src/app/service/background-work.js';
import {
  artefactPath,
  conflictClaimKey,
  conflictKey,
  deadEventKey,
  deadEventMarker,
  erasureKey,
  jobFolder,
  LAST_ERASURE,
  NOTICES_FOLDER,
  outboxClaimKey,
  outboxStateKey,
  quarantineFolder,
  quarantineMarker,
  reconcileReportKey,
  replayKey,
  verifyReportKey,
} from '../../../src/archive/layout.js';
import { createQuarantine } from '../../../src/archive/quarantine/quarantine.js';
import { parseConfig } from '../../../src/config/config.js';
import { ITEM_KINDS, KINDS } from '../../../src/domain/kinds.js';
import { ledgerPartition } from '../../../src/ledger/hours.js';
import { mergedObjectKey, recordKey } from '../../../src/ledger/ledger-keys.js';
import { archiveOver, commit, context, putItem } from '../../support/store/archive-fixture.js';
import { expiringRule, type LifecycleRule, readLifecycleRules } from '../../support/store/lifecycle-rules.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';

const HOUR = 'dt=2026-01-31/hour=00/';
const TIME = '2026-01-31T00:00:00Z';
/** Rule and days of each retention class. */
const RULES = {
  transcript: 'transcripts 1095',
  jobinfo: 'jobinfo 1095',
  attachment: 'attachments 1095',
  data: 'media 30',
} as const;
const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

describe('k8s/s3/lifecycle-by-tags.json', () => {
  const rules = readLifecycleRules('k8s/s3/lifecycle-by-tags.json');
  const ruleOf = (id: string) => rules.find((rule) => rule.ID === id);
  const daysOf = (id: string) => ruleOf(id)?.Expiration?.Days ?? 0;

  /** Rule and days by key, of all objects of the store. */
  function ends(store: MemoryStore, of: readonly LifecycleRule[] = rules): Record<string, string> {
    const entries = [...store.objects].map(([key, { headers }]) => {
      const rule = expiringRule(of, key, { ...headers.content });
      return [key, rule === null ? 'stays' : `${rule.ID} ${rule.Expiration?.Days}`] as const;
    });
    return Object.fromEntries(entries.sort());
  }

  /** Delivers one item of each kind and, under the same job, different bytes for each. */
  async function deliver(store: MemoryStore, source: string, keyPrefix: string): Promise<void> {
    const { archive } = archiveOver(store);
    for (const content of ['first', 'other']) {
      const delivery = archive.begin(context({ source, keyPrefix, jobId: 'j1' }));
      for (const kind of ITEM_KINDS) {
        const name = kind === 'attachment' ? { attachmentName: '0a1b2c3d4e5f6071.bin' } : {};
        await putItem(delivery, { kind, contentType: 'x/y', ...name }, Buffer.from(content));
      }
      await commit(delivery);
    }
  }

  let store: MemoryStore;
  beforeAll(async () => {
    store = createMemoryStore();
    await deliver(store, 'intake', 'team-a/');
  });

  it('ends media after 30 days and everything else of a job after years, conflicts included', () => {
    const folder = jobFolder('team-a/', 'j1');
    const found = Object.entries(ends(store))
      .filter(([key]) => key.startsWith(folder))
      .map(([key, rule]) => [key.slice(folder.length).replace(/[0-9a-f]{64}$/, '<hash>'), rule]);
    const expected = ITEM_KINDS.flatMap((kind) => {
      const name = kind === 'attachment' ? { attachmentName: '0a1b2c3d4e5f6071.bin' } : {};
      const path = artefactPath({ kind, ...name });
      const conflict = conflictKey('', path, '').replace(/\.?$/, '.<hash>');
      return [path, conflict].map((key) => [key, RULES[KINDS[kind].retention]]);
    });
    expect(found).toEqual(expected.sort());
  });

  it('ends media of one source earlier, once that rule is enabled and names the source', () => {
    const example = JSON.stringify(rules)
      .replace('"Status":"Disabled"', '"Status":"Enabled"')
      .replace('example-source', 'intake');
    const found = ends(store, JSON.parse(example));
    expect(found['team-a/jobs/j1/data']).toBe('media-of-one-source 14');
    expect(found['team-a/jobs/j1/transcript.json']).toBe('transcripts 1095');
    const others = ends(store, JSON.parse(example.replace('intake', 'other')));
    expect(others['team-a/jobs/j1/data']).toBe('media 30');
  });

  it('ends a quarantined body with its request and the index of the quarantine', async () => {
    const quarantined = createMemoryStore();
    const request = { source: 'intake', jobId: 'j1', deliveryId: ID } as never;
    await createQuarantine(quarantined).keep(request, Buffer.from('{'));
    expect(ends(quarantined)).toEqual({
      [`${quarantineFolder(ID)}body`]: 'quarantine 90',
      [`${quarantineFolder(ID)}request.json`]: 'quarantine 90',
      [quarantineMarker('j1', ID)]: 'quarantine-index 91',
    });
  });

  it.each([
    ['ledger', `${ledgerPartition(TIME)}x.ndjson`],
    ['ledger-hours', mergedObjectKey('ledger/', HOUR, 1, '0a1b2c3d4e5f6071')],
    ['ledger-hours', recordKey('ledger/', HOUR, 1)],
    ['reports', reconcileReportKey(TIME)],
    ['reports', verifyReportKey(TIME)],
    ['canaries-of-gone-replicas', '.canary/replica'],
  ])('ends by the rule %s: %s', (id, key) => {
    expect(expiringRule(rules, key)?.ID).toBe(id);
  });

  it.each([
    ['the mark of an erased job', erasureKey('j1')],
    ['the list of erasures', `${LAST_ERASURE.replace(/last$/, '')}${ID}-j1`],
    ['the last erasure', LAST_ERASURE],
    ['the claim on a conflict', conflictClaimKey(jobFolder('', 'j1'), 'data', 'f00')],
    ['the state of a subscriber', outboxStateKey('billing')],
    ['the claim on a subscriber', outboxClaimKey('billing', 1)],
    ['an event that was not delivered', deadEventKey('billing', 'e1')],
    ['the index of such events', deadEventMarker('j1', 'billing', 'e1')],
    ['a replay', replayKey(ID)],
    ['notices', `${NOTICES_FOLDER}state.json`],
    ['an artefact from before tags were on', `${jobFolder('', 'j1')}data`],
  ])('never ends %s', (_, key) => {
    expect(expiringRule(rules, key)).toBeNull();
  });

  it('keeps the ledger longer than what it accounts for, and merged hours longer than their segments', () => {
    for (const id of ['media', 'transcripts', 'jobinfo', 'attachments', 'quarantine'])
      expect(daysOf('ledger')).toBeGreaterThan(daysOf(id));
    expect(daysOf('ledger-hours')).toBeGreaterThan(daysOf('ledger'));
    expect(daysOf('quarantine-index')).toBeGreaterThan(daysOf('quarantine'));
  });

  it('ends the version that remains of an ended object in a versioned bucket, and its delete marker', () => {
    for (const { ID: id, Expiration, NoncurrentVersionExpiration } of rules)
      if (Expiration?.Days !== undefined)
        expect([id, NoncurrentVersionExpiration]).toEqual([id, { NoncurrentDays: 1 }]);
    expect(ruleOf('expired-delete-markers')).toMatchObject({
      Filter: { Prefix: '' },
      Expiration: { ExpiredObjectDeleteMarker: true },
    });
  });

  it('aborts uploads that neither a delivery nor the sweep of the receiver can still need', () => {
    const { limits } = parseConfig({});
    const rule = ruleOf('incomplete-uploads');
    const milliseconds = (rule?.AbortIncompleteMultipartUpload?.DaysAfterInitiation ?? 0) * 86_400_000;
    expect(rule?.Filter).toEqual({ Prefix: '' });
    expect(milliseconds).toBeGreaterThan(Math.max(limits.totalTimeout, SWEEP_AFTER));
  });

  it('has only what S3 takes: these actions do not go with tags, and names are unique', () => {
    for (const { Filter, Expiration, AbortIncompleteMultipartUpload } of rules) {
      if (Filter.Tag === undefined && Filter.And === undefined) continue;
      expect([Expiration?.ExpiredObjectDeleteMarker, AbortIncompleteMultipartUpload]).toEqual([
        undefined,
        undefined,
      ]);
    }
    expect(new Set(rules.map(({ ID: id }) => id)).size).toBe(rules.length);
  });
});
