// The AWS uploader behind Express: the raw body is its stream.
import { Upload } from '@aws-sdk/lib-storage';
import express from 'express';
import { BUCKET, createClient, listen } from './s3.mjs';

const client = createClient();
const app = express().disable('x-powered-by');
app.all('/callbacks/:source', async (request, response) => {
  const Key = `jobs/${request.query.id}/data`;
  await new Upload({
    client,
    params: { Bucket: BUCKET, Key, Body: request },
    partSize: 8 * 1024 * 1024,
  }).done();
  response.json({ id: request.query.id });
});
listen(app);
