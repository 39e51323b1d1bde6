import { StoreError, UnrestoredObjectError } from '../object-store.js';
import type { StoreCondition } from '../store-remedies.js';
import { asFailure, type S3Failure } from './s3-failure.js';

const REGION = 'set store.s3.region and store.s3.endpoint to those of the bucket';
const CERTIFICATE = 'NODE_EXTRA_CA_CERTS names a file with further certificate authorities';

const EXPLANATIONS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  QuotaExceeded: 'the quota is spent',
  XMinioAdminBucketQuotaExceeded: 'the quota of the bucket is spent',
  XMinioStorageFull: 'no space is left',
  InsufficientStorage: 'no space is left',
  InsufficientCapacity: 'no space is left',
  AccessDenied: 'access denied',
  InvalidObjectState: 'the object is in an archive of the bucket, such as GLACIER: restore it there first',
  InvalidAccessKeyId: 'the store does not know the access key',
  SignatureDoesNotMatch: 'the secret key is wrong, or something in between alters requests',
  ExpiredToken: 'the credentials have expired',
  PermanentRedirect: `the bucket is in another region; ${REGION}`,
  TemporaryRedirect: `the bucket is served elsewhere; ${REGION}`,
  IllegalLocationConstraintException: `the bucket is in another region; ${REGION}`,
  AuthorizationHeaderMalformed: `the region is wrong for this bucket; ${REGION}`,
  RequestTimeTooSkewed: 'the clocks of this machine and the server differ too much',
  NotImplemented: 'the server does not know this kind of request',
  BadDigest: 'the body changed in transit',
  XAmzContentSHA256Mismatch: 'the body does not have the sha256 it was announced with',
  NotAnswerOfS3: 'something other than the store answered, such as a proxy',
  PoolTimeout: 'no connection became free in time',
  PROXY_REFUSED: 'the proxy refuses to connect to the store',
  PROXY_UNREACHABLE: 'the proxy cannot be reached',
  PROXY_INVALID: 'the variable does not name a proxy of HTTP',
  AnswerTimeout: 'the store did not answer in time',
  CredentialsProviderError: 'no credentials were found',
  // The network, by the codes of Node.js and undici.
  ENOTFOUND: 'the host name is not known; is store.s3.endpoint right, and is the bucket part of the name?',
  EAI_AGAIN: 'the name service does not answer',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  ECONNREFUSED: 'nothing listens at the address of the store',
  ETIMEDOUT: 'the store did not answer in time',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  EHOSTUNREACH: 'there is no route to the store',
  ENETUNREACH: 'there is no route to the store',
  UND_ERR_CONNECT_TIMEOUT: 'no connection could be opened in time',
  UND_ERR_HEADERS_TIMEOUT: 'the store did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'the store stopped in the middle of its answer',
  UND_ERR_SOCKET: 'the connection broke',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the certificate of the store is signed by an authority that is not trusted here; ${CERTIFICATE}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the certificate of the store is signed by an authority that is not trusted here; ${CERTIFICATE}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the certificate of the store is signed by an authority that is not trusted here; ${CERTIFICATE}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: `the store has a self-signed certificate; ${CERTIFICATE}`,
  CERT_HAS_EXPIRED: 'the certificate of the store has expired',
  CERT_NOT_YET_VALID: 'the certificate of the store is not valid yet; is the clock right?',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate of the store is for another host name; buckets with dots in their names need store.s3.forcePathStyle',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the store does not speak TLS at this address; is it http:// ?',
  EPROTO: 'the store does not speak TLS at this address; is it http:// ?',
};

const CONDITIONS: Readonly<Record<string, StoreCondition>> = {
  NoSuchBucket: 'missing',
  QuotaExceeded: 'over-quota',
  XMinioAdminBucketQuotaExceeded: 'over-quota',
  XMinioStorageFull: 'full',
  InsufficientStorage: 'full',
  // Ceph's.
  InsufficientCapacity: 'full',
  AccessDenied: 'denied',
  InvalidAccessKeyId: 'wrong-credentials',
  SignatureDoesNotMatch: 'wrong-credentials',
  ExpiredToken: 'wrong-credentials',
  CredentialsProviderError: 'no-credentials',
  NotAnswerOfS3: 'unreachable',
  RequestTimeTooSkewed: 'clock',
  RequestExpired: 'clock',
  RequestInTheFuture: 'clock',
  EMFILE: 'too-many-files',
  ENFILE: 'too-many-files',
};

const CONDITIONS_BY_STATUS: Readonly<Record<number, StoreCondition>> = { 403: 'denied', 507: 'full' };

/** Condition of the whole store that a failure shows. A request without an answer was not refused. */
function conditionOf({ code, status }: S3Failure): StoreCondition | null {
  const named = CONDITIONS[code];
  if (named !== undefined) return named;
  // This process lacks connections; the store itself may work.
  if (code === 'PoolTimeout') return null;
  if (status === null) return 'unreachable';
  return NO_CODE.has(code) || code === 'Forbidden' ? (CONDITIONS_BY_STATUS[status] ?? null) : null;
}

/** Answers to HEAD and pages of a proxy have no error code. */
const EXPLAINED_STATUSES: Readonly<Record<number, string>> = {
  301: `the bucket is in another region; ${REGION}`,
  307: `the bucket is served elsewhere; ${REGION}`,
  403: 'access denied, without a reason',
  507: 'no space is left',
  407: 'a proxy in between asks for credentials',
};
const NO_CODE = new Set(['Unknown', 'UnknownError', 'no error code']);

/**
 * Makes the error that callers see: operation, explanation, the store's message and request id, and the key; never headers
 * or secrets.
 */
export function s3StoreError(operation: string, key: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const failure = asFailure(error);
  const id = failure.requestId === null ? '' : `, request id ${failure.requestId}`;
  const Kind = failure.code === 'InvalidObjectState' ? UnrestoredObjectError : StoreError;
  return new Kind(operation, `${explain(failure)} at ${JSON.stringify(key)}${id}`, {
    cause: failure,
    retryAfterMs: failure.retryAfterMs,
    condition: conditionOf(failure),
  });
}

/** AWS's message for a write without a checksum to a bucket that locks every new object; its code is InvalidRequest. */
const CHECKSUM_WANTED = /Content-MD5|x-amz-checksum/i;
const LOCKED =
  'the bucket locks new objects and takes none without a checksum: set store.s3.checksum to crc32 (docs/stores.md, "Versioning and Object Lock")';

function explain(failure: S3Failure): string {
  const { message, detail, code, status } = failure;
  const isLocked = status === 400 && CHECKSUM_WANTED.test(detail ?? '');
  const known =
    (isLocked ? LOCKED : EXPLANATIONS[code]) ??
    (NO_CODE.has(code) ? EXPLAINED_STATUSES[failure.status ?? 0] : undefined);
  const said = detail === null || detail === code ? message : `${message}: ${detail}`;
  return known === undefined ? said : `${known} (${said})`;
}
