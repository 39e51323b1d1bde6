import { describe, expect, it } from '@jest/globals';
import { asFailure, failureOf } from '../../../../src/store/s3/s3-failure.js';
import { s3StoreError } from '../../../../src/store/s3/s3-store-error.js';
import { openStandInStore } from '../../../support/store/stand-in-store.js';

const HEADERS = { contentType: 'text/plain', metadata: {} };

function messageOf(status: number, xml: string, headers: Record<string, string> = {}): string {
  return s3StoreError('create', 'k', failureOf(status, `<Error>${xml}</Error>`, headers)).message;
}

describe('the message of a failed S3 request', () => {
  it('holds the store’s own message and the request id, of a header or the body', () => {
    const xml = '<Code>InvalidArgument</Code><Message>The &quot;class&quot; is not\n known.</Message>';
    const expected = 'create: 400 InvalidArgument: The "class" is not known. at "k", request id tx01';
    expect(messageOf(400, `${xml}<RequestId>tx01</RequestId>`)).toBe(expected);
    expect(messageOf(400, xml, { 'x-amz-request-id': 'tx01' })).toBe(expected);
  });

  it('holds neither the key nor the text that a wrong signature is answered with', () => {
    const xml =
      '<Code>SignatureDoesNotMatch</Code><Message>Check your key.</Message><AWSAccessKeyId>AKIAX</AWSAccessKeyId>' +
      '<StringToSign>AWS4-HMAC-SHA256</StringToSign>';
    expect(messageOf(403, xml)).toMatch(/^create: the secret key is wrong.*: Check your key.\) at "k"$/);
  });

  it('names the setting that a bucket with a default retention wants', () => {
    const message =
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters';
    expect(messageOf(400, `<Code>InvalidRequest</Code><Message>${message}</Message>`)).toMatch(
      /^create: the bucket locks new objects.*set store\.s3\.checksum to crc32.*Content-MD5 OR/,
    );
  });

  it('is bounded and printable for any response', () => {
    const message = messageOf(400, `<Code>X</Code><Message>${'\u0007é'.repeat(10_000)}</Message>`);
    expect(message).toMatch(/^[\x20-\x7e]{1,500}$/);
  });

  it.each([
    [301, 'PermanentRedirect', /another region; set store\.s3\.region and store\.s3\.endpoint/],
    [307, 'TemporaryRedirect', /served elsewhere; set store\.s3\.region and store\.s3\.endpoint/],
  ])('names the way out of a redirect: %d %s', (status, code, words) => {
    const message = messageOf(status, `<Code>${code}</Code>`, { 'x-amz-bucket-region': 'eu-west-1' });
    expect(message).toMatch(words);
    expect(message).toContain("the bucket's region is eu-west-1");
  });

  it('explains the status where there is no code, as in answers to HEAD', async () => {
    const { store, standIn, close } = await openStandInStore({ retries: 0 });
    try {
      standIn.misbehave = () => ({ kind: 'answer', status: 307, code: 'TemporaryRedirect' });
      await expect(store.head('k')).rejects.toThrow(/served elsewhere; set store\.s3\.region/);
      standIn.misbehave = () => ({ kind: 'page', status: 403 });
      await expect(store.create('k', Buffer.from('x'), HEADERS)).rejects.toThrow(/access denied, without/);
    } finally {
      await close();
    }
  });

  it.each([
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /not trusted here; NODE_EXTRA_CA_CERTS/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /not trusted here; NODE_EXTRA_CA_CERTS/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /self-signed certificate; NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', /has expired/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /another host name/],
    ['ENOTFOUND', /host name is not known/],
    ['ECONNREFUSED', /nothing listens/],
    ['UND_ERR_HEADERS_TIMEOUT', /did not answer in time/],
  ])('puts %s in words', (code, words) => {
    expect(s3StoreError('head', 'k', Object.assign(new Error('raw'), { code })).message).toMatch(words);
  });

  it("keeps the SDK's details of a response", () => {
    const error = Object.assign(new Error('Slow down, please.'), {
      name: 'SlowDown',
      $metadata: { httpStatusCode: 503, requestId: 'tx02' },
      $response: { headers: { 'retry-after': '7' } },
    });
    expect(asFailure(error)).toMatchObject({ status: 503, code: 'SlowDown', requestId: 'tx02' });
    expect(s3StoreError('list', 'k', error)).toMatchObject({
      message: 'list: 503 SlowDown: Slow down, please. at "k", request id tx02',
      retryAfterMs: 7_000,
    });
  });

  it('is the same on every way to the store', async () => {
    const { store, standIn, close } = await openStandInStore({ retries: 0 });
    const headers = { 'retry-after': '120' };
    standIn.misbehave = () => ({ kind: 'answer', status: 503, code: 'SlowDown', headers });
    try {
      const failing = [
        store.create('k', Buffer.from('x'), HEADERS),
        store.startUpload('k', HEADERS),
        store.head('k'),
        store.read('k'),
        store.delete('k'),
        store.sweepUploads(new Date()),
      ];
      const errors = await Promise.all(failing.map((each) => each.catch((error: unknown) => error)));
      for (const error of errors) {
        expect(error).toMatchObject({ retryAfterMs: 120_000 });
        expect((error as Error).message).toMatch(/503 .* request id tx\d/);
      }
    } finally {
      await close();
    }
  });
});
