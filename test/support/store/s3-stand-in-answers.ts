import { randomUUID } from 'node:crypto';
import { listObjectsXml, listUploadsXml, listVersionsXml, xml } from './s3-stand-in-listing.js';
import type { S3Request } from './s3-stand-in-request.js';
import { bytesOf, etagOf, joined, type S3State } from './s3-stand-in-state.js';

export interface S3Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export function s3Error(status: number, code: string, headers: Record<string, string> = {}): S3Answer {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml', ...headers }, body: Buffer.from(body) };
}

function ok(body: Buffer | string = '', headers: Record<string, string> = {}, status = 200): S3Answer {
  return { status, headers, body: typeof body === 'string' ? Buffer.from(body) : body };
}

type Handler = (state: S3State, request: S3Request, conditional: boolean) => S3Answer;

const HANDLERS: Record<string, Handler> = {
  PutObject(state, { key, headers, body, size }, conditional) {
    if (conditional && state.objects.has(key)) return s3Error(412, 'PreconditionFailed');
    return ok('', { etag: state.put(key, body, keptHeaders(headers), size).etag });
  },

  GetObject(state, { key, headers }) {
    const object = state.objects.get(key);
    if (!object) return s3Error(404, 'NoSuchKey');
    const common = { ...object.headers, etag: object.etag, 'last-modified': object.modifiedAt.toUTCString() };
    const { size } = object;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
    if (from === undefined) return ok(bytesOf(object), common);
    if (Number(from) >= size) return s3Error(416, 'InvalidRange');
    const slice = bytesOf(object).subarray(Number(from), to === '' ? size : Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + slice.length - 1}/${size}`;
    return ok(slice, { ...common, 'content-range': range }, 206);
  },

  HeadObject(state, { key, query }) {
    const id = query.get('versionId');
    const version = state.versions.find((each) => each.key === key && each.versionId === id);
    const object = id === null ? state.objects.get(key) : version?.object;
    if (!object) return s3Error(404, 'NoSuchKey');
    const { headers, etag, modifiedAt, size } = object;
    const described = { etag, 'last-modified': modifiedAt.toUTCString(), 'content-length': `${size}` };
    return ok('', { ...headers, ...described, ...state.locked.get(id ?? '') });
  },

  DeleteObject(state, { key, query }) {
    const id = query.get('versionId');
    if (id !== null && !state.removeVersion(key, id)) return s3Error(403, 'AccessDenied');
    if (id === null) state.remove(key);
    return ok('', {}, 204);
  },

  GetVersioning: ({ versioning }) =>
    ok(xml('VersioningConfiguration', versioning === null ? '' : `<Status>${versioning}</Status>`)),

  GetObjectLock: ({ objectLock, defaultRetention: days }) =>
    objectLock
      ? ok(
          xml(
            'ObjectLockConfiguration',
            `<ObjectLockEnabled>Enabled</ObjectLockEnabled>${retentionRule(days)}`,
          ),
        )
      : s3Error(404, 'ObjectLockConfigurationNotFoundError'),

  GetLifecycle: ({ lifecycle }) =>
    lifecycle === null
      ? s3Error(404, 'NoSuchLifecycleConfiguration')
      : ok(xml('LifecycleConfiguration', lifecycle)),

  GetTagging(state, { key }) {
    const object = state.objects.get(key);
    if (!object) return s3Error(404, 'NoSuchKey');
    const tags = [...new URLSearchParams(object.headers['x-amz-tagging'])].map(
      ([name, value]) => `<Tag><Key>${name}</Key><Value>${value}</Value></Tag>`,
    );
    return ok(xml('Tagging', `<TagSet>${tags.join('')}</TagSet>`));
  },

  ListObjects: (state, { query }) => ok(listObjectsXml(state, query)),

  ListVersions: (state, { query }) => ok(listVersionsXml(state, query)),

  CreateUpload(state, { key, headers }) {
    const id = randomUUID();
    state.uploads.set(id, { key, headers: keptHeaders(headers), begun: new Date(), parts: new Map() });
    const type = state.checksumType;
    return ok(
      xml('InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${id}</UploadId>`),
      type === null ? {} : { 'x-amz-checksum-type': type },
    );
  },

  UploadPart(state, { key, query, body, size }) {
    const upload = state.uploads.get(query.get('uploadId') ?? '');
    if (upload?.key !== key) return s3Error(404, 'NoSuchUpload');
    const etag = etagOf({ body, size });
    upload.parts.set(Number(query.get('partNumber')), { body, size, etag });
    return ok('', { etag });
  },

  UploadPartCopy(state, { key, query, headers }) {
    const upload = state.uploads.get(query.get('uploadId') ?? '');
    if (upload?.key !== key) return s3Error(404, 'NoSuchUpload');
    const [, sourceKey = ''] = /^[^/]+\/(.*)$/.exec(String(headers['x-amz-copy-source'])) ?? [];
    const source = state.objects.get(decodeURIComponent(sourceKey));
    if (!source) return s3Error(404, 'NoSuchKey');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(String(headers['x-amz-copy-source-range'])) ?? [];
    if (Number(to) >= source.size) return s3Error(416, 'InvalidRange');
    const body = bytesOf(source).subarray(Number(from), Number(to) + 1);
    const etag = etagOf({ body, size: body.length });
    upload.parts.set(Number(query.get('partNumber')), { body, size: body.length, etag });
    return ok(xml('CopyPartResult', `<ETag>${etag}</ETag>`));
  },

  CompleteUpload(state, { key, query, headers, body }, conditional) {
    const id = query.get('uploadId') ?? '';
    const upload = state.uploads.get(id);
    if (!upload) return s3Error(404, 'NoSuchUpload');
    if (conditional && state.objects.has(key)) return s3Error(412, 'PreconditionFailed');
    const match = headers['if-match'];
    const there = state.objects.get(key)?.etag;
    if (match !== undefined && there === undefined) return s3Error(404, 'NoSuchKey');
    if (match !== undefined && there !== match) return s3Error(412, 'PreconditionFailed');
    const numbers = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((m) =>
      Number(m[1]),
    );
    const parts = numbers.flatMap((number) => upload.parts.get(number) ?? []);
    if (numbers.length === 0 || parts.length < numbers.length) return s3Error(400, 'InvalidPart');
    const whole = joined(parts);
    state.put(key, whole.body, upload.headers, whole.size);
    state.uploads.delete(id);
    return ok(xml('CompleteMultipartUploadResult', `<Key>${key}</Key><ETag>"0"</ETag>`));
  },

  AbortUpload(state, { query }) {
    return state.uploads.delete(query.get('uploadId') ?? '') ? ok('', {}, 204) : s3Error(404, 'NoSuchUpload');
  },

  ListParts(state, { query }) {
    const upload = state.uploads.get(query.get('uploadId') ?? '');
    if (!upload) return s3Error(404, 'NoSuchUpload');
    const parts = [...upload.parts].map(
      ([number, { etag, size }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${size}</Size></Part>`,
    );
    return ok(xml('ListPartsResult', parts.join('')));
  },

  ListUploads(state, { query }) {
    return ok(listUploadsXml(state, query));
  },
};

function retentionRule(days: number | null): string {
  if (days === null) return '';
  const retention = `<Mode>GOVERNANCE</Mode><Days>${days}</Days>`;
  return `<Rule><DefaultRetention>${retention}</DefaultRetention></Rule>`;
}

/** Carries out a request and returns its answer. */
export function answerS3(state: S3State, request: S3Request, ignoreConditions: boolean): S3Answer {
  const conditional = request.headers['if-none-match'] === '*' && !ignoreConditions;
  return HANDLERS[request.operation]?.(state, request, conditional) ?? s3Error(501, 'NotImplemented');
}

/** The headers of a write that S3 stores and returns with the object. */
function keptHeaders(headers: S3Request['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isKept = name === 'content-type' || name === 'x-amz-tagging' || name.startsWith('x-amz-meta-');
    if (isKept && typeof value === 'string') kept[name] = value;
  }
  return kept;
}
