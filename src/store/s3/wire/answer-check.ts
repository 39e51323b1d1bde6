import type { IncomingHttpHeaders } from 'node:http';
import { failureOf, S3Failure } from '../s3-failure.js';
import type { ServerClock } from './s3-signer.js';

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Null for the body of an object or of an answer to HEAD, which is no text of the protocol. */
  readonly text: string | null;
}

/** Shape of a successful answer to an operation. Source: Amazon S3 API Reference, "Response Syntax" of each. */
interface ExpectedAnswer {
  readonly statuses: readonly number[];
  readonly headers: readonly string[];
  /** Root element of the body; null for an answer without a document, `any` where a document is optional. */
  readonly root: string | null | 'any';
}

/** Compatible servers use other statuses than S3; all of these mean success. 202 is no success of a write: it may happen later. */
const WRITTEN: ExpectedAnswer = { statuses: [200, 201], headers: ['etag'], root: null };
/** S3 answers 204. After a 202 the next pass of an erasure shows whether the object is gone. */
const REMOVED: ExpectedAnswer = { statuses: [200, 202, 204], headers: [], root: 'any' };

function document(root: string): ExpectedAnswer {
  return { statuses: [200, 201, 202], headers: [], root };
}

const EXPECTED: Readonly<Record<string, ExpectedAnswer>> = {
  PutObject: WRITTEN,
  UploadPart: WRITTEN,
  UploadPartCopy: document('CopyPartResult'),
  GetObjectTagging: document('Tagging'),
  GetObject: { statuses: [200, 206], headers: ['etag', 'content-length'], root: null },
  HeadObject: { statuses: [200], headers: ['etag', 'content-length'], root: null },
  DeleteObject: REMOVED,
  AbortMultipartUpload: REMOVED,
  CreateMultipartUpload: document('InitiateMultipartUploadResult'),
  CompleteMultipartUpload: document('CompleteMultipartUploadResult'),
  ListObjectsV2: document('ListBucketResult'),
  ListObjectVersions: document('ListVersionsResult'),
  ListParts: document('ListPartsResult'),
  ListMultipartUploads: document('ListMultipartUploadsResult'),
  GetBucketLifecycleConfiguration: document('LifecycleConfiguration'),
  GetBucketVersioning: document('VersioningConfiguration'),
  GetObjectLockConfiguration: document('ObjectLockConfiguration'),
};

/** Header of every answer of S3 and of most compatible servers. */
const REQUEST_ID = 'x-amz-request-id';

export type AnswerCheck = ReturnType<typeof createAnswerCheck>;

/** An answer that may be the store's; the caller has to look up whether the request took effect. */
export class DoubtfulAnswer extends S3Failure {
  readonly answer: ReceivedAnswer;

  constructor(answer: ReceivedAnswer, reason: string) {
    const detail = `status ${answer.status}${typeOf(answer.headers)}, ${reason}`;
    super({ status: null, code: 'NotAnswerOfS3', detail });
    this.answer = answer;
  }
}

/**
 * Distinguishes the store's answers from those of a proxy in between: a maintenance page with status 200 would make a
 * missing object durable, and an error page with status 404 would make an existing one missing.
 *
 * After the first answer with a request id, answers without one are rejected, and so are answers to writes that repeat an id: on a
 * connection with shifted answers they belong to another request. When an answer that is certainly the store's breaks this rule (two
 * alternating gateways, an upgrade), the rule is dropped for good, because it must not take the store out of service.
 *
 * @param expectedOwner named in refusals, because S3 does not say that the bucket belongs to another account
 * @param onNotice called once with a message when answers without a request id are accepted again
 * @param clock receives the time of each accepted answer
 */
export function createAnswerCheck(
  expectedOwner: string | null = null,
  onNotice?: (message: string) => void,
  clock?: Pick<ServerClock, 'observe'>,
) {
  /** Request ids of the latest writes. */
  const ids = new Set<string>();
  let requestIds: 'not seen' | 'required' | 'optional' = 'not seen';

  function requireRequestId(answer: ReceivedAnswer): void {
    if (answer.headers[REQUEST_ID] !== undefined) return;
    if (requestIds === 'required')
      throw new DoubtfulAnswer(answer, `without ${REQUEST_ID}, which the store has sent before`);
  }

  function rejectRepeated(answer: ReceivedAnswer): void {
    const id = answer.headers[REQUEST_ID];
    if (typeof id !== 'string' || requestIds === 'optional') return;
    if (ids.has(id)) throw new DoubtfulAnswer(answer, `with the ${REQUEST_ID} of an earlier answer`);
    ids.add(id);
    if (ids.size <= MAX_IDS) return;
    for (const oldest of ids) return void ids.delete(oldest);
  }

  function acceptUnidentified(): void {
    if (requestIds === 'required') onNotice?.(NO_LONGER_REQUIRED);
    requestIds = 'optional';
  }

  function assertAnswer(operation: string, answer: ReceivedAnswer): void {
    if (answer.status === 404) {
      if (isPage(answer)) throw foreign(answer);
      requireRequestId(answer);
    }
    if (expectedOwner !== null && answer.status === 403) throwRefusal(answer, expectedOwner);
    const expected = EXPECTED[operation];
    if (expected === undefined || answer.status < 200 || answer.status > 299) return;
    // S3 may send the status before the work is done, and the error afterwards in the body.
    if (answer.text?.includes('</Code>') && rootOf(answer.text) === 'Error')
      throw failureOf(answer.status, answer.text, answer.headers);
    if (!matches(expected, answer)) throw foreign(answer);
    // The body proves that the answer is the store's.
    const isProven = expected.root !== null && expected.root !== 'any';
    if (answer.headers[REQUEST_ID] === undefined && isProven) acceptUnidentified();
    requireRequestId(answer);
    if (expected === WRITTEN) rejectRepeated(answer);
    if (answer.headers[REQUEST_ID] !== undefined && requestIds === 'not seen') requestIds = 'required';
  }

  return {
    /**
     * Returns for a success of the store, and for failures, which the caller handles; with an expected owner, throws for
     * AccessDenied, to name the owner.
     *
     * @throws S3Failure for the store's own error inside a 200, and, with status null, for an answer that is not the
     *   store's: the request may have taken effect
     * @throws DoubtfulAnswer when nothing but the request id is wrong
     */
    check(operation: string, answer: ReceivedAnswer): void {
      assertAnswer(operation, answer);
      clock?.observe(answer.headers.date);
    },
    /** From now on accepts answers without a request id, or with a repeated one: the store is known to send them. */
    acceptUnidentified,
  };
}

/** More than the number of writing connections. */
const MAX_IDS = 256;

const NO_LONGER_REQUIRED =
  `the store answered without ${REQUEST_ID}, which it has sent before, or repeats it (two gateways, or an upgrade?); such answers are ` +
  'accepted from now on';

/** Only for AccessDenied: other refusals have other reasons, which the SDK or the clock correction handles. */
function throwRefusal({ status, headers, text }: ReceivedAnswer, owner: string): void {
  const failure = failureOf(status, text ?? '', headers);
  if (failure.code !== 'AccessDenied') return;
  const { code, requestId, retryAfterMs, serverTime } = failure;
  const detail = `${failure.detail ?? code}; or the bucket is not of account ${owner} (store.s3.expectedBucketOwner)`;
  throw new S3Failure({ status, code, requestId, retryAfterMs, serverTime, detail });
}

function matches({ statuses, headers, root }: ExpectedAnswer, answer: ReceivedAnswer): boolean {
  if (!statuses.includes(answer.status)) return false;
  if (headers.some((name) => answer.headers[name] === undefined)) return false;
  if (answer.text === null) return true;
  const found = rootOf(answer.text);
  if (root !== null && root !== 'any') return found === root;
  return answer.text.trim() === '' || (root === 'any' && found !== null && found.toLowerCase() !== 'html');
}

/** Name of the root element of a complete document, without a prefix; null for anything else. */
function rootOf(text: string): string | null {
  const start = /^\uFEFF?(?:\s|<\?[^>]*\?>)*<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)/.exec(text);
  if (start === null) return null;
  const [, prefix = '', name = ''] = start;
  const whole = text.trimEnd();
  const selfClosing = whole.endsWith('/>') && whole.lastIndexOf('<') === start[0].lastIndexOf('<');
  return selfClosing || whole.endsWith(`</${prefix}${name}>`) ? name : null;
}

/** S3 reports a missing object in XML or without a body; a page comes from a proxy. */
function isPage({ headers, text }: ReceivedAnswer): boolean {
  if (/^(text\/html|text\/plain|application\/json)/i.test(headers['content-type'] ?? '')) return true;
  return text !== null && text.trim() !== '' && rootOf(text) !== 'Error';
}

function foreign({ status, headers }: ReceivedAnswer): S3Failure {
  return new S3Failure({ status: null, code: 'NotAnswerOfS3', detail: `status ${status}${typeOf(headers)}` });
}

function typeOf(headers: ReceivedAnswer['headers']): string {
  const type = (headers['content-type'] ?? '').slice(0, 60).replace(/[^\x20-\x7e]/g, '');
  return type === '' ? '' : `, ${type}`;
}
