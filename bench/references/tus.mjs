// tus: one POST with creation-with-upload, stored through its S3 store.

import { createServer } from 'node:http';
import { S3Store } from '@tus/s3-store';
import { Server } from '@tus/server';
import { BUCKET, listen, s3ClientConfig } from './s3.mjs';

const datastore = new S3Store({
  partSize: 8 * 1024 * 1024,
  s3ClientConfig: { bucket: BUCKET, ...s3ClientConfig() },
});
const tus = new Server({ path: '/callbacks', datastore });
listen(createServer((request, response) => tus.handle(request, response)));
