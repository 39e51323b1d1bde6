import { describe, expect, it } from '@jest/globals';
import { artefactPath, conflictKey, jobFolder, quarantineFolder } from '../../../src/archive/layout.js';
import { ITEM_KINDS } from '../../../src/domain/kinds.js';
import { hourFolder, ledgerPartition } from '../../../src/ledger/hours.js';
import { recordKey } from '../../../src/ledger/ledger-keys.js';
import { readProjectFile } from '../../support/manifests.js';

/* What deploy/s3-notifications selects of the keys that the receiver writes; test/s3 sends the same filters to a server. */

const read = (file: string) => JSON.parse(readProjectFile(`deploy/s3-notifications/${file}`));

const folder = jobFolder('', 'job1');
const paths = ITEM_KINDS.map((kind) =>
  artefactPath({
    kind,
    ...(kind === 'attachment' ? { attachmentName: '0a1b2c3d4e5f6071.json' } : {}),
  }),
);
const transcripts = paths.filter((path) => path.startsWith('transcript.')).map((path) => folder + path);
const others = [
  ...paths.filter((path) => !path.startsWith('transcript.')).map((path) => folder + path),
  ...paths.map((path) => conflictKey(folder, path, '0'.repeat(64))),
  `${ledgerPartition('2026-03-04T05:06:07.890Z')}0001.ndjson`,
  `${quarantineFolder('01KJX3VZ8Q4M7T9B0C2D5E6F7G')}request.json`,
  'outbox/crm/state.json',
  recordKey('ledger/', hourFolder('2026-03-04T05:06:07.890Z'), 1),
  '.canary/replica',
];

interface QueueConfiguration {
  readonly QueueArn: string;
  readonly Events: readonly string[];
  readonly Filter: { readonly Key: { readonly FilterRules: readonly { Name: string; Value: string }[] } };
}

describe('deploy/s3-notifications', () => {
  const queues = read('sqs-bucket-notification.json').QueueConfigurations as readonly QueueConfiguration[];
  const pattern = read('eventbridge-rule-pattern.json');

  /** How many messages SQS would get of an object: S3 allows a prefix and a suffix, and no overlap. */
  const messages = (key: string) =>
    queues.filter(({ Filter }) =>
      Filter.Key.FilterRules.every(({ Name, Value }) =>
        Name === 'prefix' ? key.startsWith(Value) : key.endsWith(Value),
      ),
    ).length;

  /** `*` of EventBridge stands for any characters, slashes among them. */
  const matches = (key: string) =>
    (pattern.detail.object.key as readonly { wildcard: string }[]).filter(({ wildcard }) =>
      new RegExp(`^${wildcard.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(key),
    ).length;

  it.each([
    ['SQS', messages],
    ['EventBridge', matches],
  ] as const)('sends each transcript to %s once, and nothing else', (_way, count) => {
    expect(transcripts.map((key) => [key, count(key)])).toEqual(transcripts.map((key) => [key, 1]));
    expect(transcripts).not.toEqual([]);
    expect(others.filter((key) => count(key) > 0)).toEqual([]);
  });

  it('hears of every way in which an object is created', () => {
    // Large artefacts are created by CompleteMultipartUpload, small ones by PutObject.
    expect(queues.map(({ Events }) => Events)).toEqual(queues.map(() => ['s3:ObjectCreated:*']));
    expect(pattern).toMatchObject({ source: ['aws.s3'], 'detail-type': ['Object Created'] });
    expect(read('eventbridge-bucket-notification.json')).toEqual({ EventBridgeConfiguration: {} });
  });

  it('lets only this bucket, or this rule, of this account send to the queue', () => {
    const bucket = pattern.detail.bucket.name[0];
    const [fromBucket] = read('sqs-queue-policy.json').Statement;
    const [fromRule] = read('eventbridge-queue-policy.json').Statement;
    const queueArns = [...new Set(queues.map(({ QueueArn }) => QueueArn))];
    expect([fromBucket.Resource, fromRule.Resource]).toEqual([...queueArns, ...queueArns]);
    const account = queueArns[0]?.split(':')[4];
    expect(fromBucket.Condition).toEqual({
      ArnEquals: { 'aws:SourceArn': `arn:aws:s3:::${bucket}` },
      StringEquals: { 'aws:SourceAccount': account },
    });
    expect(fromRule.Condition.ArnEquals['aws:SourceArn']).toContain(`:${account}:rule/`);
    for (const { Effect, Action } of [fromBucket, fromRule]) {
      expect([Effect, Action]).toEqual(['Allow', 'sqs:SendMessage']);
    }
  });
});
