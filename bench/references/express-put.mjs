// What most people write: express.raw, then PutObject of the SDK.
import { PutObjectCommand } from '@aws-sdk/client-s3';
import express from 'express';
import { BUCKET, createClient, listen } from './s3.mjs';

const client = createClient();
const app = express().disable('x-powered-by');
app.all('/callbacks/:source', express.raw({ type: () => true, limit: '6gb' }), async (request, response) => {
  const Key = `jobs/${request.query.id}/body`;
  await client.send(
    new PutObjectCommand({
      Bucket: BUCKET,
      Key,
      Body: request.body,
      ContentType: request.get('content-type'),
    }),
  );
  response.json({ id: request.query.id, status: request.query.status });
});
listen(app);
