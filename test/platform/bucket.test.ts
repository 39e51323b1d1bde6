import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SWEEP_AFTER } from '../../src/app/service/background-work.js';
import {
  erasureKey,
  jobFolder,
  quarantineFolder,
  quarantineMarker,
  reconcileReportKey,
  replayKey,
  verifyReportKey,
} from '../../src/archive/layout.js';
import { parseConfig } from '../../src/config/config.js';
import { ledgerPartition } from '../../src/ledger/hours.js';
import { mergedObjectKey, recordKey } from '../../src/ledger/ledger-keys.js';
import { inProject, readManifest, readProjectFile } from '../support/manifests.js';

/** Which permission a command of the S3 client needs (AWS, "Actions, resources, and condition keys for Amazon S3"). */
const PERMISSION: Readonly<Record<string, string | readonly string[]>> = {
  PutObject: ['s3:PutObject', 's3:PutObjectTagging'],
  CreateMultipartUpload: ['s3:PutObject', 's3:PutObjectTagging'],
  UploadPart: 's3:PutObject',
  // Within the bucket: the source is read.
  UploadPartCopy: ['s3:PutObject', 's3:GetObject'],
  CompleteMultipartUpload: 's3:PutObject',
  AbortMultipartUpload: 's3:AbortMultipartUpload',
  ListParts: 's3:ListMultipartUploadParts',
  ListMultipartUploads: 's3:ListBucketMultipartUploads',
  GetObject: 's3:GetObject',
  GetObjectTagging: 's3:GetObjectTagging',
  // Headers of a version, with its retention.
  HeadObject: ['s3:GetObject', 's3:GetObjectVersion', 's3:GetObjectRetention', 's3:GetObjectLegalHold'],
  ListObjectsV2: 's3:ListBucket',
  HeadBucket: 's3:ListBucket',
  ListObjectVersions: 's3:ListBucketVersions',
  DeleteObject: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
  DeleteObjects: 's3:DeleteObject',
  GetBucketLifecycleConfiguration: 's3:GetLifecycleConfiguration',
  GetBucketVersioning: 's3:GetBucketVersioning',
  GetObjectLockConfiguration: 's3:GetBucketObjectLockConfiguration',
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: string | string[];
  readonly Condition?: { readonly Null?: object };
}

const statementsOf = (file: string): Statement[] => JSON.parse(readProjectFile(file)).Statement;

describe('k8s/s3/iam-policy.json', () => {
  const allowed = statementsOf('k8s/s3/iam-policy.json').flatMap((each) => each.Action);

  it('allows all that the store asks for', () => {
    const sources = readdirSync(inProject('src/store'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readProjectFile(`src/store/${file}`));
    const commands = new Set(
      sources.flatMap((source) => [...source.matchAll(/new (\w+)Command\b/g)].map((match) => match[1] ?? '')),
    );
    expect(commands.size).toBeGreaterThan(5);
    for (const command of commands)
      expect([command, allowed]).toEqual([command, expect.arrayContaining([PERMISSION[command]].flat())]);
  });

  it('allows nothing else', () => {
    for (const action of allowed) expect(Object.values(PERMISSION).flat()).toContain(action);
  });

  it('names the bucket of the production overlay', () => {
    const { store } = readManifest('k8s/overlays/production/config/production.yaml');
    const { url } = parseConfig({ store }).store;
    const resources = ['k8s/s3/iam-policy.json', 'k8s/s3/verify-policy.json', 'k8s/s3/bucket-policy.json']
      .flatMap(statementsOf)
      .flatMap((each) => each.Resource);
    for (const resource of resources)
      expect(resource.replace(/\/.*$/, '')).toBe(url.replace('s3://', 'arn:aws:s3:::'));
  });
});

describe('k8s/s3/verify-policy.json', () => {
  it('allows to read, and to create nothing but reports of verify', () => {
    const statements = statementsOf('k8s/s3/verify-policy.json');
    expect(statements.flatMap((each) => each.Action).sort()).toEqual([
      's3:GetObject',
      's3:ListBucket',
      's3:PutObject',
    ]);
    const writable = statements
      .filter(({ Action }) => Action === 's3:PutObject')
      .flatMap((each) => each.Resource);
    expect(writable.map((resource) => resource.replace(/^[^/]*\//, ''))).toEqual([
      'reports/verify/*',
      '*/reports/verify/*',
    ]);
    expect(verifyReportKey('2026-01-31T00:00:00Z')).toMatch(/^reports\/verify\//);
  });
});

describe('k8s/s3/bucket-policy.json', () => {
  const denials = statementsOf('k8s/s3/bucket-policy.json').filter(({ Action }) => Action === 's3:PutObject');

  /** @param header of the write; null: it has no condition */
  function isDenied(key: string, header: 'if-match' | 'if-none-match' | null): boolean {
    return denials.some(({ Resource, Condition }) => {
      const patterns = [Resource].flat().map((resource) => resource.replace(/^[^/]*\//, ''));
      const isMeant = patterns.some((each) => new RegExp(`^${each.replaceAll('*', '.*')}$`).test(key));
      return isMeant && !Object.keys(Condition?.Null ?? {}).includes(`s3:${header}`);
    });
  }

  it.each([
    ['an artefact', `${jobFolder('', 'j1')}data`],
    ['an artefact of a source with a prefix', `${jobFolder('team/', 'j1')}data`],
    ['the ledger', `${ledgerPartition('2026-01-31T00:00:00Z')}x~00000001.ndjson`],
    ['a quarantined body', `${quarantineFolder('01ARZ3NDEKTSV4RRFFQ69G5FAV')}body`],
    ['a merged hour', mergedObjectKey('ledger/', 'dt=2026-01-31/hour=00/', 1, '0a1b2c3d4e5f6071')],
    ['its record', recordKey('ledger/', 'dt=2026-01-31/hour=00/', 1)],
    ['a report of verify', verifyReportKey('2026-01-31T00:00:00Z')],
  ])('denies overwriting %s, also below a prefix of the store', (_, key) => {
    for (const each of [key, `transcripts/${key}`]) {
      expect(isDenied(each, null)).toBe(true);
      expect(isDenied(each, 'if-none-match')).toBe(false);
    }
  });

  it('admits the choice of another version of an artefact, which replaces what was seen, and of nothing else', () => {
    expect(isDenied(`${jobFolder('team/', 'j1')}transcript.json`, 'if-match')).toBe(false);
    expect(isDenied(`${ledgerPartition('2026-01-31T00:00:00Z')}x~00000001.ndjson`, 'if-match')).toBe(true);
  });

  it.each([
    ['the canary', '.canary/replica'],
    ['a report', reconcileReportKey('2026-01-31T00:00:00Z')],
    ['a replay', replayKey('01ARZ3NDEKTSV4RRFFQ69G5FAV')],
    ['the mark of an erased job', erasureKey('j1')],
  ])('lets the receiver replace %s', (_, key) => {
    expect(isDenied(key, null)).toBe(false);
    expect(isDenied(`transcripts/${key}`, null)).toBe(false);
  });
});

describe('k8s/s3/lifecycle.json', () => {
  const rules: {
    ID: string;
    Filter: { Prefix: string };
    Expiration?: { Days: number };
    AbortIncompleteMultipartUpload?: { DaysAfterInitiation: number };
  }[] = JSON.parse(readProjectFile('k8s/s3/lifecycle.json')).Rules;

  it('expires nothing of the archive', () => {
    for (const { Filter, Expiration } of rules)
      if (Expiration) expect(Filter.Prefix).not.toMatch(/^(jobs.*)?$/);
  });

  it.each([
    ['quarantine', quarantineFolder('01ARZ3NDEKTSV4RRFFQ69G5FAV')],
    ['quarantine-index', quarantineMarker('job1', '01ARZ3NDEKTSV4RRFFQ69G5FAV')],
    ['ledger', ledgerPartition('2026-01-31T00:00:00Z')],
    ['ledger-hours', mergedObjectKey('ledger/', 'dt=2026-01-31/hour=00/', 1, '0a1b2c3d4e5f6071')],
    ['reports', reconcileReportKey('2026-01-31T00:00:00Z')],
    ['canaries-of-gone-replicas', '.canary/replica'],
  ])('the rule %s covers the keys it is meant for', (id, key) => {
    const rule = rules.find((each) => each.ID === id);
    expect(key.startsWith(rule?.Filter.Prefix ?? 'no rule')).toBe(true);
  });

  it('expires merged hours after the segments, which would be merged again otherwise', () => {
    const daysOf = (id: string) => rules.find((each) => each.ID === id)?.Expiration?.Days ?? 0;
    expect(daysOf('ledger-hours')).toBeGreaterThan(daysOf('ledger'));
  });

  it('leaves uploads under way alone', () => {
    const { limits } = parseConfig({});
    const days =
      rules.find((each) => each.AbortIncompleteMultipartUpload)?.AbortIncompleteMultipartUpload
        ?.DaysAfterInitiation ?? 0;
    expect(days * 86_400_000).toBeGreaterThan(limits.totalTimeout);
    // The receiver's own sweep comes first and counts what it finds.
    expect(days * 86_400_000).toBeGreaterThan(SWEEP_AFTER);
  });
});
