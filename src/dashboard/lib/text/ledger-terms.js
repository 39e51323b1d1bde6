/** @import { Tone } from '../elements/status.js' */

/**
 * An own property. Keys come from untrusted input and could be `constructor`.
 * @template T
 * @param {Record<string, T>} table @param {string} name
 */
export function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Outcomes, reasons, kinds and origins of the ledger as text. All these sets are open: unknown names are shown as they are. */

/** @type {Record<string, [Tone, string]>} */
const OUTCOMES = {
  stored: ['good', 'Stored'],
  duplicate: ['good', 'Duplicate'],
  recovered: ['good', 'Recovered'],
  released: ['good', 'Released'],
  matched: ['good', 'Complete'],
  noted: ['neutral', 'Noted'],
  replayed: ['neutral', 'Replayed'],
  'release-failed': ['notice', 'Release failed'],
  dismissed: ['neutral', 'Dismissed'],
  cancelled: ['neutral', 'Cancelled'],
  acknowledged: ['neutral', 'Acknowledged'],
  erased: ['neutral', 'Erased'],
  ended: ['neutral', 'Ended by retention'],
  read: ['neutral', 'Read'],
  'signed-in': ['neutral', 'Signed in'],
  'sign-in-failed': ['notice', 'Sign-in failed'],
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
export const ORIGIN_NAMES = ['callback', 'recovery', 'replay', 'import', 'realtime', 'admin', 'retention'];

/** @param {string} name @returns {{tone: Tone, word: string}} */
export function outcomeOf(name) {
  const [tone, word] = own(OUTCOMES, name) ?? ['neutral', name];
  return { tone, word };
}

/** @type {Record<string, string>} */
const REASONS = {
  'json-invalid': 'the body is declared as JSON but does not parse',
  'multipart-unsupported': 'the body is multipart, but not form-data',
  'multipart-boundary': 'the multipart boundary is missing or invalid',
  'multipart-header': 'a part has invalid headers',
  'multipart-unterminated': 'the multipart body has no closing delimiter',
  'multipart-unaccounted': 'the decoded parts do not account for all bytes of the body',
  'too-many-parts': 'the body has more parts than limits.maxParts',
  'encoding-unsupported': 'the Content-Encoding is not supported',
  'encoding-corrupt': 'the compressed body is corrupt',
  'query-invalid': 'the query had no valid id and status',
  'body-malformed': 'the body could not be decoded, and was too large or truncated, so it was not kept',
  'credential-invalid': 'the credential was missing, wrong or sent twice',
  'sign-in-missing': 'a request to the admin API had no token',
  'sign-in-repeated': 'a request to the admin API had several tokens',
  'sign-in-wrong': 'a request to the admin API had an invalid token',
  'sign-in-ticket-wrong': 'a download had an invalid ticket',
  'sign-in-proxy-repeated': 'the proxy sent the user or the groups twice',
  'sign-in-proxy-malformed': 'the proxy sent a user name that is not valid',
  'sign-in-ticket-expired': 'a download had an expired ticket',
  ticket: 'a ticket was issued, which opens all artefacts of the job for an hour',
  'address-refused': 'the address is not on the source’s allowlist',
  'address-unreadable': 'the client address could not be determined; check trustedProxies',
  'length-required': 'an HTTP/1.0 request had no Content-Length',
  'not-direct': 'the source has no credential, and the request was forwarded or came from a web page',
  'source-unknown': 'no source has this name',
  'method-not-allowed': 'the method was neither POST nor PUT',
  'body-too-slow': 'the body stalled or was slower than limits.minBytesPerSecond',
  'body-too-large': 'the body was larger than the source’s maxBytes',
  'store-unavailable': 'the store was unavailable',
  'write-race': 'another delivery wrote the same artefact at the same time',
  overloaded: 'the receiver was overloaded',
  draining: 'the replica was shutting down',
  erased: 'the job was erased before, so nothing of it was stored',
  'client-gone': 'the sender closed the connection before the body was complete',
  internal: 'an unexpected error in the receiver; see its log',
};

/**
 * What to change to prevent a reason from recurring, where the receiver's side can.
 * @type {Record<string, string>}
 */
const REMEDIES = {
  'too-many-parts': 'Raise limits.maxParts, restart, and release the body.',
  'body-too-large': 'Raise maxBytes of the source, restart, and refetch the job.',
  'body-malformed': 'Refetch the job from the service.',
  'body-too-slow': 'Refetch the job from the service.',
  'credential-invalid':
    'Compare the credential with auth_headers of the job. Explain shows which header is wrong.',
  'address-refused':
    'If the address belongs to the service, add it to allow of the source. Explain shows the address.',
  'not-direct': 'Configure a credential for the source: behind a load balancer it needs one.',
  'address-unreadable': 'Correct receiver.trustedProxies. Explain shows how the address is determined.',
  'store-unavailable':
    'See the Store tile of the overview. The service retries, and reconcile fetches what is still missing.',
};

/**
 * The text of a stable code; a reason that an operator or the service wrote is returned unchanged.
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

/** @type {Record<string, string>} */
const OBJECT_KINDS = {
  transcript: 'Transcripts',
  jobinfo: 'Job information',
  data: 'Media',
  attachment: 'Attachments',
  quarantine: 'Bodies in quarantine',
  ledger: 'Ledger',
  reports: 'Reports',
  replays: 'Replays',
};

/**
 * A kind of `retention.<kind>`.
 * @param {string} kind
 */
export function objectKindInWords(kind) {
  return own(OBJECT_KINDS, kind) ?? kind;
}

/** @param {string} kind */
export function kindInWords(kind) {
  return own(KINDS, kind) ?? kind;
}

/** @type {Record<string, string>} */
const STATUSES = {
  success: 'success',
  error: 'error: the service could not process the job',
  fetch_error: 'fetch_error: the service could not fetch the media',
  trim_error: 'trim_error: the service could not trim the audio',
};

/**
 * The status of a callback: what the service reports about the job.
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
  admin: 'admin port',
  retention: 'retention',
};

/** @param {string} origin */
export function originInWords(origin) {
  return own(ORIGINS, origin) ?? origin;
}
