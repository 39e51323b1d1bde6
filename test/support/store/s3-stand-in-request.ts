import type { IncomingHttpHeaders } from 'node:http';
import type { Content } from './s3-stand-in-state.js';

/** A request without its body. */
interface RequestHead {
  readonly operation: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** A request as the stand-in understands it. */
export interface S3Request extends RequestHead, Content {}

const NO_QUERY = new URLSearchParams();

/** Path style: the first segment is the bucket, whichever it is. */
export function describeRequest(message: {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}): RequestHead {
  const [path = '', search] = (message.url ?? '').split('?');
  const slash = path.indexOf('/', 1);
  const key = slash === -1 ? '' : decodeURIComponent(path.slice(slash + 1));
  const query = search === undefined ? NO_QUERY : new URLSearchParams(search);
  return { operation: operationOf(message, key, query), key, query, headers: message.headers };
}

function operationOf(
  { method = '', headers }: Pick<Parameters<typeof describeRequest>[0], 'method' | 'headers'>,
  key: string,
  query: URLSearchParams,
): string {
  if (query.has('lifecycle')) return 'GetLifecycle';
  if (query.has('versioning')) return 'GetVersioning';
  if (query.has('object-lock')) return 'GetObjectLock';
  if (query.has('tagging')) return 'GetTagging';
  if (query.has('versions')) return 'ListVersions';
  if (key === '') return query.has('uploads') ? 'ListUploads' : 'ListObjects';
  if (method === 'POST') return query.has('uploads') ? 'CreateUpload' : 'CompleteUpload';
  const part = query.has('uploadId');
  if (method === 'PUT' && headers['x-amz-copy-source'] !== undefined) return 'UploadPartCopy';
  if (method === 'PUT') return part ? 'UploadPart' : 'PutObject';
  if (method === 'DELETE') return part ? 'AbortUpload' : 'DeleteObject';
  if (method === 'HEAD') return 'HeadObject';
  return part ? 'ListParts' : 'GetObject';
}
