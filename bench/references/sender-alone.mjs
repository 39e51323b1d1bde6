/**
 * Limits without a receiver: `uploader` (the AWS uploader fed from memory) and `signed-put` (hand-written SigV4 over
 * undici, the least a stored object can cost a Node process). Behind an HTTP order so that all targets are driven alike.
 */
import { Readable } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import express from 'express';
import { BUCKET, createClient, listen } from './s3.mjs';
import { createSignedPut } from './signed-put.mjs';

const PART = 8 * 1024 * 1024;
const chunk = Buffer.alloc(256 * 1024, 'media that does not repeat within a line of text; ');
const client = createClient();
const signedPut = createSignedPut();
const modes = { uploader, 'put-loop': putLoop, 'part-loop': partLoop };

const app = express().disable('x-powered-by');
app.post('/run', express.json(), async (request, response) => {
  response.json(await modes[request.body.mode](request.body));
});
listen(app);

async function uploader({ bytes }) {
  const began = performance.now();
  const Body = Readable.from(chunks(bytes), { objectMode: false });
  await new Upload({
    client,
    params: { Bucket: BUCKET, Key: `jobs/alone-${began}/data`, Body },
    partSize: PART,
  }).done();
  return { count: 1, bytes, seconds: (performance.now() - began) / 1000 };
}

function* chunks(bytes) {
  for (let left = bytes; left > 0; left -= chunk.length)
    yield left >= chunk.length ? chunk : chunk.subarray(0, left);
}

/** Sends small objects at a given concurrency for a given time. */
async function putLoop({ bytes, connections, seconds }) {
  const body = Buffer.alloc(bytes, 'x');
  const latencies = [];
  const until = performance.now() + seconds * 1000;
  const work = async (worker) => {
    for (let number = 0; performance.now() < until; number += 1) {
      const began = performance.now();
      await signedPut(`jobs/loop-${worker}-${number}/transcript.json`, body);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, worker) => work(worker)));
  latencies.sort((a, b) => a - b);
  return {
    count: latencies.length,
    seconds,
    p50: latencies[latencies.length >> 1],
    p99: latencies[Math.floor(latencies.length * 0.99)],
  };
}

/** Parts of 8 MiB, four at a time, each hashed for its signature. */
async function partLoop({ bytes }) {
  const began = performance.now();
  let left = bytes;
  const work = async (worker) => {
    const part = Buffer.alloc(PART, 'y');
    while (left > 0) {
      left -= PART;
      await signedPut(`jobs/part-${worker}-${left}/data`, part);
    }
  };
  await Promise.all([0, 1, 2, 3].map(work));
  return { count: 1, bytes, seconds: (performance.now() - began) / 1000 };
}
