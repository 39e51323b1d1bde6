import { hash, randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  PutBucketNotificationConfigurationCommand,
  type QueueConfiguration,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { createS3Signer } from '../../src/store/s3/wire/s3-signer.js';
import { type RecordingServer, recordingServer } from '../support/http/recording-server.js';
import { readProjectFile } from '../support/manifests.js';
import { realS3Settings } from '../support/store/real-s3.js';
import { until } from '../support/until.js';

/*
 * The filters of deploy/s3-notifications on a real S3 server. Ceph has no SQS, but topics that push to an HTTP endpoint:
 * the filters are sent as they are, only the queue is another.
 */

const OTHERS = [
  'jobs/a/jobinfo.json',
  'jobs/a/data',
  'jobs/a/conflicts/transcript.json.0000',
  'jobs/a/attachments/0a1b2c3d4e5f6071.json',
  'quarantine/x/request.json',
  'ledger/dt=2026-03-04/hour=05/a.ndjson',
];

describe('the bucket notifications of deploy/s3-notifications', () => {
  const settings = realS3Settings();
  const credentials = {
    accessKeyId: settings.accessKeyId ?? '',
    secretAccessKey: settings.secretAccessKey ?? '',
  };
  const region = settings.region ?? 'us-east-1';
  const bucket = `notified-${randomUUID()}`;
  let queue: RecordingServer;
  let client: S3Client;

  beforeAll(async () => {
    queue = await recordingServer();
    client = new S3Client({ endpoint: settings.endpoint, region, forcePathStyle: true, credentials });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  });
  afterAll(async () => {
    client.destroy();
    await queue.close();
  });

  /** Ceph's own call: the AWS SDK has it in its client of another service. */
  async function createTopic(): Promise<string> {
    const body = new URLSearchParams({
      Action: 'CreateTopic',
      Name: bucket,
      'Attributes.entry.1.key': 'push-endpoint',
      'Attributes.entry.1.value': queue.url,
    }).toString();
    const headers = createS3Signer(region).sign(
      {
        method: 'POST',
        path: '/',
        query: [],
        headers: {
          host: new URL(settings.endpoint).host,
          'content-type': 'application/x-www-form-urlencoded',
          'x-amz-content-sha256': hash('sha256', body),
        },
      },
      credentials,
      new Date(),
    );
    const answer = await fetch(settings.endpoint, { method: 'POST', headers: { ...headers }, body });
    const [, arn] = /<TopicArn>([^<]+)/.exec(await answer.text()) ?? [];
    if (arn === undefined) throw new Error(`the topic was not created: ${answer.status}`);
    return arn;
  }

  const announced = () =>
    queue.requests.flatMap(({ body }) =>
      JSON.parse(body.toString()).Records.map((record: { s3: { object: { key: string } } }) =>
        decodeURIComponent(record.s3.object.key),
      ),
    );

  it('announce the transcripts of jobs, small and streamed, and nothing else', async () => {
    const file = JSON.parse(readProjectFile('deploy/s3-notifications/sqs-bucket-notification.json'));
    const TopicArn = await createTopic();
    const TopicConfigurations = (file.QueueConfigurations as QueueConfiguration[]).map(
      ({ QueueArn: _, ...rest }) => ({ ...rest, TopicArn }),
    );
    const NotificationConfiguration = { TopicConfigurations };
    await client.send(
      new PutBucketNotificationConfigurationCommand({ Bucket: bucket, NotificationConfiguration }),
    );
    const store = await openStore({ url: `s3://${bucket}`, s3: settings, partSize: 5 * 1024 * 1024 });
    const headers = { contentType: 'application/json', metadata: {} };
    const create = (key: string) => store.create(key, Buffer.from('{}'), headers);
    try {
      for (const key of ['jobs/a/transcript.json', 'jobs/a/transcript.txt', ...OTHERS]) await create(key);
      const upload = await store.startUpload('jobs/b/transcript.srt', headers);
      await upload.write(Buffer.alloc(store.partSize));
      await upload.write(Buffer.from('end'));
      await upload.complete();
      await create('jobs/last/transcript.json');
      await until(() => announced().includes('jobs/last/transcript.json'));
      expect([...new Set(announced())].sort()).toEqual([
        'jobs/a/transcript.json',
        'jobs/a/transcript.txt',
        'jobs/b/transcript.srt',
        'jobs/last/transcript.json',
      ]);
    } finally {
      await store.close();
    }
  });
});
