/** @import { Tone } from '../elements/status.js' */

/**
 * The entry of a table. Names come from outside, and `constructor` is one, too.
 * @template T
 * @param {Record<string, T>} table @param {string} name
 */
export function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Outcomes, reasons, kinds and origins of the ledger in words. All these sets are open. */

/** @type {Record<string, [Tone, string]>} */
const OUTCOMES = {
  stored: ['good', 'Stored'],
  duplicate: ['good', 'Duplicate'],
  recovered: ['good', 'Recovered'],
  released: ['good', 'Released'],
  matched: ['good', 'Complete'],
  noted: ['neutral', 'Noted'],
  replayed: ['neutral', 'Replayed'],
  cancelled: ['neutral', 'Cancelled'],
  acknowledged: ['neutral', 'Acknowledged'],
  erased: ['neutral', 'Erased'],
  pending: ['neutral', 'Pending'],
  conflict: ['notice', 'Conflict'],
  quarantined: ['notice', 'Quarantined'],
  refused: ['bad', 'Refused'],
  unrecoverable: ['bad', 'Unrecoverable'],
  failed: ['bad', 'Failed'],
  undecodable: ['bad', 'Still undecodable'],
};

/** Outcomes to choose from in filters. */
export const OUTCOME_NAMES = Object.keys(OUTCOMES).filter(
  (name) => !['matched', 'pending', 'undecodable'].includes(name),
);
export const ORIGIN_NAMES = ['callback', 'recovery', 'replay', 'import', 'realtime'];

/** @param {string} name @returns {{tone: Tone, word: string}} */
export function outcomeOf(name) {
  const [tone, word] = own(OUTCOMES, name) ?? ['neutral', name];
  return { tone, word };
}

/** @type {Record<string, string>} */
const REASONS = {
  'json-invalid': 'the body says it is JSON and does not parse',
  'multipart-unsupported': 'it is multipart, but not form-data',
  'multipart-boundary': 'the multipart boundary is missing or not usable',
  'multipart-header': 'a part has headers that cannot be read',
  'multipart-unterminated': 'the multipart body has no closing delimiter',
  'multipart-unaccounted': 'the parts that were found do not account for all bytes of the body',
  'too-many-parts': 'the body has more parts than limits.maxParts',
  'encoding-unsupported': 'the Content-Encoding is not one that can be decoded',
  'encoding-corrupt': 'the compressed body is damaged',
  'query-invalid': 'the query had no usable id and status',
  'body-malformed': 'the body could not be decoded and was too large, or not whole, to keep',
  'credential-invalid': 'the credential was missing, wrong or given twice',
  'sign-in-missing': 'a request to the admin API carried no token',
  'sign-in-repeated': 'a request to the admin API carried several tokens',
  'sign-in-wrong': 'a request to the admin API carried a wrong token',
  'sign-in-ticket-wrong': 'a download carried a ticket that is not valid',
  'sign-in-ticket-expired': 'a download carried a ticket that has expired',
  'address-refused': 'the address is not on the source’s allowlist',
  'address-unreadable': 'the client address could not be read; look at trustedProxies',
  'length-required': 'an HTTP/1.0 request had no Content-Length',
  'not-direct': 'the source has no credential, and the request was forwarded or came from a web page',
  'source-unknown': 'there is no source of that name',
  'method-not-allowed': 'the method was neither POST nor PUT',
  'body-too-slow': 'the body stalled or arrived more slowly than limits.minBytesPerSecond',
  'body-too-large': 'the body was larger than the source’s maxBytes',
  'store-unavailable': 'the store could not take it',
  'write-race': 'another delivery wrote the same artefact at that moment',
  overloaded: 'the receiver was at its limit at that moment',
  draining: 'the replica was shutting down',
  'client-gone': 'the sender closed the connection before the end',
  internal: 'an unexpected error in the receiver; its log has the details',
};

/** What to change so that it does not happen again; null where nothing of ours is at fault. */
/** @type {Record<string, string>} */
const REMEDIES = {
  'too-many-parts': 'Raise limits.maxParts, restart, and release it.',
  'body-too-large': 'Raise maxBytes of the source, restart, and refetch the job.',
  'body-malformed': 'Refetch the job from the service.',
  'body-too-slow': 'Refetch the job from the service.',
  'credential-invalid':
    'Compare the credential with auth_headers of the job; Explain says which header is wrong.',
  'address-refused':
    'If the address is the service’s, add it to allow of the source. Explain says which address was seen.',
  'not-direct': 'Give the source a credential: behind a balancer it needs one.',
  'address-unreadable': 'Correct receiver.trustedProxies; Explain shows how the address is read.',
  'store-unavailable':
    'See the Store tile of the overview. The service retries, and reconcile fetches what is still missing.',
};

/**
 * A stable code in words; an operator's or the service's own words as they are. Null stays null.
 * @param {string | null | undefined} reason
 */
export function reasonInWords(reason) {
  if (reason === null || reason === undefined || reason === '') return null;
  return own(REASONS, reason) ?? reason;
}

/** @param {string | null} reason */
export function remedyFor(reason) {
  return own(REMEDIES, reason ?? '') ?? null;
}

/** @type {Record<string, string>} */
const KINDS = {
  'transcript.json-v2': 'transcript (json-v2)',
  'transcript.txt': 'transcript (text)',
  'transcript.srt': 'transcript (SRT)',
  jobinfo: 'job information',
  data: 'media',
  attachment: 'attachment',
};

/** @param {string} kind */
export function kindInWords(kind) {
  return own(KINDS, kind) ?? kind;
}

/** @type {Record<string, string>} */
const STATUSES = {
  success: 'success',
  error: 'error: something went wrong processing the job',
  fetch_error: 'fetch_error: the service could not fetch the media from its address',
  trim_error: 'trim_error: the audio could not be processed before transcription',
};

/**
 * Status of a callback, which is the service's word on the job.
 * @param {string} status
 */
export function callbackStatusInWords(status) {
  return own(STATUSES, status) ?? status;
}

/** @type {Record<string, string>} */
const ORIGINS = {
  callback: 'callback',
  recovery: 'fetched from the service',
  replay: 'replay',
  import: 'import',
};

/** @param {string} origin */
export function originInWords(origin) {
  return own(ORIGINS, origin) ?? origin;
}
