import { hash } from 'node:crypto';
import type { Quirk } from './s3-stand-in.js';
import { type S3Answer, s3Error } from './s3-stand-in-answers.js';

/* How servers differ from S3, one assumption at a time. Those with a name of a server were reported of it. */

function withBody(answer: S3Answer, change: (text: string) => string): S3Answer {
  return { ...answer, body: Buffer.from(change(answer.body.toString())) };
}

function without(query: URLSearchParams, name: string): URLSearchParams {
  const rest = new URLSearchParams(query);
  rest.delete(name);
  return rest;
}

const CONTENTS = /<Contents>.*?<\/Contents>/g;

/** Changes the objects of each page of a listing. */
function listing(change: (objects: string[]) => string[]): Quirk {
  return (request, proper) => {
    const answer = proper(request);
    if (request.operation !== 'ListObjects') return answer;
    return withBody(answer, (text) => {
      const objects = change(text.match(CONTENTS) ?? []);
      return text
        .replace(CONTENTS, '')
        .replace('</ListBucketResult>', `${objects.join('')}</ListBucketResult>`);
    });
  };
}

/** Answers a request that took effect with another status. */
function status(operation: string, code: number, body = ''): Quirk {
  return (request, proper) => {
    const answer = proper(request);
    if (request.operation !== operation || answer.status > 299) return answer;
    return { ...answer, status: code, body: body === '' ? answer.body : Buffer.from(body) };
  };
}

/** Answers without doing anything. */
function ignored(operation: string, code: number): Quirk {
  return (request, proper) =>
    request.operation === operation ? { status: code, headers: {}, body: Buffer.alloc(0) } : proper(request);
}

function refused(operation: string): Quirk {
  return (request, proper) =>
    request.operation === operation ? s3Error(501, 'NotImplemented') : proper(request);
}

/** Asks as if the parameter were not there. */
function unknownParameter(name: string): Quirk {
  return (request, proper) => proper({ ...request, query: without(request.query, name) });
}

const byHash = (one: string, other: string) => (hash('md5', one) < hash('md5', other) ? -1 : 1);

/** Changes the ETag in headers and documents. */
function etags(change: (etag: string) => string | null): Quirk {
  return (request, proper) => {
    const { headers, body, ...answer } = proper(request);
    const { etag, ...others } = headers;
    const changed = etag === undefined ? null : change(etag);
    const text = body.toString().replace(/<ETag>(.*?)<\/ETag>/g, (_, found) => {
      const other = change(found);
      return other === null ? '' : `<ETag>${other}</ETag>`;
    });
    const isDocument = text.startsWith('<?xml');
    return {
      ...answer,
      headers: { ...others, ...(changed !== null && { etag: changed }) },
      body: isDocument ? Buffer.from(text) : body,
    };
  };
}

/** Refuses requests that have a header. */
function refusesHeader(pattern: RegExp, code: number, name: string): Quirk {
  return (request, proper) =>
    Object.keys(request.headers).some((header) => pattern.test(header))
      ? s3Error(code, name)
      : proper(request);
}

function isExisting({ operation, headers }: Parameters<Quirk>[0], { status }: S3Answer): boolean {
  const isWrite = operation === 'PutObject' || operation === 'CompleteUpload';
  return isWrite && headers['if-none-match'] !== undefined && status === 412;
}

/** Differences with which the product refuses the store, and the message of the refusal. */
export const UNFIT: Readonly<Record<string, readonly [Quirk, RegExp]>> = {
  'listings by hash': [listing((objects) => objects.toSorted(byHash)), /not in the order of keys/],
  'listings by age': [listing((objects) => objects.toReversed()), /not in the order of keys/],
  'folders before files, as a tree of folders is walked': [
    listing((objects) => objects.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other), 'en'))),
    /not in the order of keys/,
  ],
  'a listing that lags': [listing((objects) => objects.slice(1)), /miss \d+ of 12 new objects/],
  'a listing that repeats': [listing((objects) => objects.flatMap((each) => [each, each])), /order of keys/],
  'no continuation': [unknownParameter('continuation-token'), /comes back to the page before/],
  'pages without a continuation': [
    (request, proper) =>
      withBody(proper(request), (text) =>
        text.replace(/<NextContinuationToken>.*?<\/NextContinuationToken>/, ''),
      ),
    /listing/,
  ],
  'no conditions': [refusesHeader(/^if-none-match$/, 501, 'NotImplemented'), /501 NotImplemented/],
  'writes without an ETag': [
    (request, proper) => {
      const answer = proper(request);
      const { etag, ...headers } = answer.headers;
      if (request.operation !== 'PutObject' || etag === undefined) return answer;
      return { ...answer, headers: { ...headers, 'e-tag': etag } };
    },
    /something other than the store answered/,
  ],
  'no StartAfter': [unknownParameter('start-after'), /StartAfter/],
  'no Delimiter': [unknownParameter('delimiter'), /Delimiter/],
  'no times in listings': [
    listing((objects) => objects.map((each) => each.replace(/<LastModified>.*<\/LastModified>/, ''))),
    /no size or no time/,
  ],
  'no ranges': [
    (request, proper) => proper({ ...request, headers: { ...request.headers, range: undefined } }),
    /\(Range\)/,
  ],
  'DELETE that does nothing': [ignored('DeleteObject', 204), /still has an object/],
  'no DELETE': [refused('DeleteObject'), /delete: .*501/],
  'uploads that are not listed': [
    (request, proper) => {
      const answer = proper(request);
      return request.operation === 'ListUploads'
        ? withBody(answer, (text) => text.replace(/<Upload>.*<\/Upload>/, ''))
        : answer;
    },
    /does not list uploads/,
  ],
  'an abort that does nothing': [ignored('AbortUpload', 204), /abort: parts of the upload of .* are left/],
  'no abort': [refused('AbortUpload'), /abort: the server does not know this kind of request/],
  'other bytes': [
    (request, proper) => {
      const answer = proper(request);
      return request.operation === 'GetObject' ? withBody(answer, (text) => text.toUpperCase()) : answer;
    },
    /other bytes/,
  ],
  'no metadata': [
    (request, proper) => {
      const answer = proper(request);
      const headers = Object.fromEntries(
        Object.entries(answer.headers).filter(([name]) => !name.startsWith('x-amz-meta-')),
      );
      return { ...answer, headers };
    },
    /metadata/,
  ],
};

/** Differences with which the product works. */
export const USABLE: Readonly<Record<string, Quirk>> = {
  'DELETE answered 200': status('DeleteObject', 200),
  'DELETE answered 202': status('DeleteObject', 202),
  'DELETE answered 200 with a document': status('DeleteObject', 200, '<DeleteResult/>'),
  'DELETE answered 404': (request, proper) => {
    const answer = proper(request);
    return request.operation === 'DeleteObject' ? s3Error(404, 'NoSuchKey') : answer;
  },
  'an abort answered 200': status('AbortUpload', 200),
  'an abort answered 404': (request, proper) => {
    const answer = proper(request);
    return request.operation === 'AbortUpload' ? s3Error(404, 'NoSuchUpload') : answer;
  },
  'a write answered 201': status('PutObject', 201),
  'a part answered 201': status('UploadPart', 201),
  'a completion answered 201': status('CompleteUpload', 201),
  'whole listings, whatever MaxKeys says': unknownParameter('max-keys'),
  'no listing of versions': refused('ListVersions'),
  'an object that is there answered 304': (request, proper) => {
    const answer = proper(request);
    return isExisting(request, answer) ? { status: 304, headers: {}, body: Buffer.alloc(0) } : answer;
  },
  'ETags without quotes': etags((etag) => etag.replaceAll('"', '')),
  'weak ETags': etags((etag) => `W/${etag}`),
  'a last page that says there is more': (request, proper) => {
    const answer = proper(request);
    return request.operation === 'ListObjects'
      ? withBody(answer, (text) => {
          const last = text.match(CONTENTS)?.map(keyOf).at(-1);
          return last === undefined || text.includes('<IsTruncated>true')
            ? text
            : text.replace(
                '<IsTruncated>false</IsTruncated>',
                `<IsTruncated>true</IsTruncated><NextContinuationToken>${Buffer.from(decodeURIComponent(last)).toString('hex')}</NextContinuationToken>`,
              );
        })
      : answer;
  },
  'white space before a document': (request, proper) =>
    withBody(proper(request), (text) => text.replace(/^<\?xml/, ' \n \n<?xml')),
  'white space instead of a declaration': (request, proper) =>
    withBody(proper(request), (text) => text.replace(/^<\?xml[^>]*\?>/, ' \n \n')),
  'no headers of checksums': refusesHeader(/^x-amz-(checksum|sdk-checksum|trailer)/, 501, 'NotImplemented'),
  'no times of objects': (request, proper) => {
    const answer = proper(request);
    const { 'last-modified': _, ...headers } = answer.headers;
    return { ...answer, headers };
  },
};

function keyOf(contents: string): string {
  return /<Key>(.*?)<\/Key>/.exec(contents)?.[1] ?? '';
}
