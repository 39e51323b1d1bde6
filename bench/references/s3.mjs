import { S3Client } from '@aws-sdk/client-s3';

export const BUCKET = process.env.BENCH_BUCKET ?? 'bench';

/** The client as its documentation shows it; only where it points is ours. */
export function s3ClientConfig() {
  return {
    endpoint: process.env.BENCH_S3,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: {
      accessKeyId: process.env.BENCH_S3_KEY ?? 'bench',
      secretAccessKey: process.env.BENCH_S3_SECRET ?? 'benchsecret',
    },
  };
}

export const createClient = () => new S3Client(s3ClientConfig());

export function listen(server) {
  const listening = server.listen(0, '127.0.0.1', () =>
    console.log(JSON.stringify({ port: listening.address().port })),
  );
  // Large bodies take longer than Node's five minutes.
  listening.requestTimeout = 0;
  process.on('SIGTERM', () => process.exit(0));
}
