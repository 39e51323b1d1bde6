import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathOf, startServer } from './processes.mjs';

/** The stand-in, started once per run; counted and reset over HTTP. */
export async function startStandIn(scratch) {
  const server = await startServer({
    name: 's3-stand-in',
    args: [pathOf('lib/s3-stand-in.mjs')],
    // Where the TypeScript compiler unpacks itself.
    env: { HOME: homedir() },
    logFile: join(scratch, 's3-stand-in.log'),
  });
  const endpoint = `http://127.0.0.1:${server.said.port}`;
  const control = `http://127.0.0.1:${server.said.control}`;
  const ask = async (path) =>
    (await fetch(`${control}/${path}`, { headers: { connection: 'close' } })).json();
  return {
    kind: 'stand-in',
    endpoint,
    bucket: 'bench',
    key: 'bench',
    secret: 'benchsecret',
    reset: (options) => ask(`reset?${new URLSearchParams(options)}`),
    setLatency: (ms) => ask(`latency?ms=${ms}`),
    forget: () => ask('forget'),
    counts: () => ask('counts'),
  };
}

const uncounted = { reset: async () => {}, counts: async () => null };

export const FILE_STORE = {
  kind: 'file',
  endpoint: 'http://127.0.0.1:9',
  bucket: 'bench',
  key: 'k',
  secret: 's',
  ...uncounted,
};

/** A real S3 of the environment, or null: S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_BUCKET. */
export async function realStore() {
  const {
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: key,
    S3_SECRET_ACCESS_KEY: secret,
    S3_BUCKET: bucket = 'bench-receiver',
  } = process.env;
  if (!endpoint) return null;
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: key, secretAccessKey: secret },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error) => {
    if (!/BucketAlready/.test(error.name)) throw error;
  });
  return {
    kind: 's3',
    endpoint,
    bucket,
    key,
    secret,
    ...uncounted,
    empty: () => emptyBucket(client, bucket),
  };
}

async function emptyBucket(client, Bucket) {
  const { DeleteObjectsCommand, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
  for (;;) {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    if (Contents.length === 0) return;
    await client.send(
      new DeleteObjectsCommand({
        Bucket,
        Delete: { Objects: Contents.map(({ Key }) => ({ Key })), Quiet: true },
      }),
    );
  }
}
