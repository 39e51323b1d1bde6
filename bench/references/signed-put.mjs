import { createHash, createHmac } from 'node:crypto';
import { Pool } from '../../node_modules/undici/index.js';
import { BUCKET, s3ClientConfig } from './s3.mjs';

const hmac = (key, text) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A PUT with a signature made by hand: no middleware, no retries, no error classification. */
export function createSignedPut() {
  const { endpoint, region, credentials } = s3ClientConfig();
  const { host, origin } = new URL(endpoint);
  const pool = new Pool(origin, { connections: 64, pipelining: 1 });
  let day = '';
  let key = null;

  return async function put(name, body) {
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    if (day !== time.slice(0, 8)) {
      day = time.slice(0, 8);
      key = ['s3', 'aws4_request'].reduce(
        hmac,
        hmac(hmac(`AWS4${credentials.secretAccessKey}`, day), region),
      );
    }
    const path = `/${BUCKET}/${name}`;
    const hash = sha256(body);
    const canonical = `PUT\n${path}\n\nhost:${host}\nx-amz-content-sha256:${hash}\nx-amz-date:${time}\n\nhost;x-amz-content-sha256;x-amz-date\n${hash}`;
    const scope = `${day}/${region}/s3/aws4_request`;
    const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`).toString('hex');
    const response = await pool.request({
      method: 'PUT',
      path,
      body,
      headers: {
        host,
        'x-amz-date': time,
        'x-amz-content-sha256': hash,
        authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
      },
    });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`PUT ${path}: ${response.statusCode}`);
  };
}
