import { startS3StandIn } from '../support/s3-stand-in.js';
import { describeObjectStore } from './object-store.js';

describeObjectStore('the S3 store before a stand-in', async () => {
  const standIn = await startS3StandIn();
  const s3 = {
    endpoint: standIn.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: 'test',
    secretAccessKey: 'test-secret',
  };
  return {
    options: { url: 's3://bucket/some/prefix', partSize: 5 * 1024 * 1024, s3 },
    dispose: () => standIn.close(),
  };
});
