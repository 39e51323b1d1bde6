import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { createS3Signer } from '../../../../../src/store/s3/wire/s3-signer.js';

/* AWS's own signer is the oracle: whatever is signed, both must come to the same Authorization header. */

class NodeSha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
const value = fc.stringMatching(/^[!-~]([ -~]{0,60}[!-~])?$/);
const requests = fc.record({
  key: fc
    .array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
    .filter((segments) =>
      segments.every((segment) => !/[\ud800-\udfff]/.test(segment) && segment !== '.' && segment !== '..'),
    ),
  metadata: fc.dictionary(token, value, { maxKeys: 6 }),
  query: fc.dictionary(fc.constantFrom('partNumber', 'uploadId', 'x-id'), value, { maxKeys: 3 }),
  secretAccessKey: value,
  sessionToken: fc.option(value, { nil: undefined }),
  now: fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
});

describe('the S3 signature', () => {
  it('is what AWS comes to, for any key, metadata, query, credentials and time', async () => {
    const signer = createS3Signer('eu-central-1');
    await fc.assert(
      fc.asyncProperty(requests, async ({ key, metadata, query, secretAccessKey, sessionToken, now }) => {
        const holder = {
          accessKeyId: 'AKIDEXAMPLE',
          secretAccessKey,
          ...(sessionToken ? { sessionToken } : {}),
        };
        const headers: Record<string, string> = {
          host: 's3.example.com',
          'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
        };
        for (const [name, text] of Object.entries(metadata)) headers[`x-amz-meta-${name}`] = text;
        const path = `/bucket/${key.map(encode).join('/')}`;
        const pairs = Object.entries(query).map(([name, text]) => `${encode(name)}=${encode(text)}`);

        const oracle = new SignatureV4({
          service: 's3',
          region: 'eu-central-1',
          credentials: holder,
          sha256: NodeSha256 as never,
          uriEscapePath: false,
        });
        const request = {
          method: 'PUT',
          protocol: 'https:',
          hostname: 's3.example.com',
          path,
          query,
          headers,
        };
        const theirs = await oracle.sign(request, { signingDate: now });
        const ours = signer.sign({ method: 'PUT', path, query: pairs, headers }, holder, now);
        expect(ours).toEqual(theirs.headers);
      }),
      { numRuns: 500 },
    );
  });
});
