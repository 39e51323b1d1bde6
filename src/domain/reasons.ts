import type { ProblemCode } from './problem.js';

/** A reason as people read it. Both texts are shown by the page and the command line; `transcript-receiver reasons` lists all. */
export interface Reason {
  /** Part of a sentence: "The callback was rejected: <words>." */
  readonly words: string;
  /** What to do about it, in whole sentences; null where nothing has to be done. */
  readonly remedy: string | null;
}

const REFETCH = 'Refetch the job.';
const RETRIED = 'The service retries; reconcile fetches the rest.';
const FRESH_SIGN_IN = 'Sign in with a configured token.';

/** Every stable reason in ledger lines, refusals, quarantine, logs, metrics and problem documents. */
export const REASONS = {
  // The request was rejected before its body was read.
  'query-invalid': {
    words: 'the query had no valid id and status',
    remedy: 'Check that no proxy changes the query.',
  },
  'credential-invalid': {
    words: 'the credential was missing, wrong, repeated or not valid then',
    remedy: 'Compare it with auth_headers of the job.',
  },
  'credential-missing': {
    words: 'no header of any credential was sent',
    remedy: 'Submit auth_headers as notification-config prints them; check that no proxy removes them.',
  },
  'credential-wrong': {
    words: 'the headers match no credential of the source',
    remedy: 'Compare auth_headers of the job with the credentials of the source.',
  },
  'credential-repeated': {
    words: 'a credential header occurs more than once',
    remedy: 'Send each header once. A proxy may add its own.',
  },
  'credential-not-yet-valid': {
    words: 'the credential is not valid yet (notBefore)',
    remedy: 'Change notBefore, or submit with a valid credential.',
  },
  'credential-expired': {
    words: 'the credential has expired (expires)',
    remedy: 'Change expires, or submit with a valid credential.',
  },
  'address-refused': {
    words: 'the address is not on the allowlist of the source',
    remedy:
      'If it belongs to the service, add it to allow of the source; if it is your proxy, to receiver.trustedProxies, and let it append X-Forwarded-For.',
  },
  'address-unreadable': {
    words: 'the client address could not be determined',
    remedy: 'Correct receiver.trustedProxies.',
  },
  'not-direct': {
    words: 'the source has no credential, and the request was forwarded or came from a page',
    remedy: 'Configure a credential: behind a balancer a source needs one.',
  },
  'source-unknown': {
    words: 'no source has this name or path',
    remedy:
      'Correct the callback URL of the job, check that no proxy changes its path, or configure the source.',
  },
  'method-not-allowed': {
    words: 'the method was neither POST nor PUT',
    remedy: 'Set the method in notification_config to post or put.',
  },
  'request-malformed': {
    words: 'the request was not valid HTTP',
    remedy: 'Check what sends to this port, and the protocol of the proxy.',
  },
  'head-too-slow': {
    words: 'the headers did not arrive within 30 s',
    remedy: 'Check the connection.',
  },
  'head-too-large': {
    words: 'the headers were larger than 16 KiB',
    remedy: 'See which proxy adds headers.',
  },
  'proxy-protocol': {
    words: 'a load balancer sent the PROXY protocol',
    remedy: 'Switch it off, or put haproxy in between.',
  },
  tls: {
    words: 'a load balancer or a sender spoke TLS to the port',
    remedy: 'End TLS in the balancer, and forward plain HTTP.',
  },
  http2: {
    words: 'a load balancer or a sender spoke HTTP/2',
    remedy: 'Let the balancer forward HTTP/1.1.',
  },
  overloaded: {
    words: 'the receiver was overloaded',
    remedy: `${RETRIED} If this recurs, raise limits.memoryBudget or run more replicas.`,
  },
  draining: { words: 'the replica was shutting down', remedy: RETRIED },
  'store-unavailable': {
    words: 'the store was unavailable',
    remedy: `If the store still fails, the overview says how; else the log has the cause (event delivery, field cause). ${RETRIED}`,
  },
  'store-full': {
    words: 'the store was full, or its quota spent',
    remedy: `Free space on the store or enlarge it; do not delete below jobs/ by hand. ${RETRIED}`,
  },
  'store-blocked': {
    words: 'a link, a device or a folder was in the way in the store',
    remedy:
      'Move what is there elsewhere: the log names its key. Bring objects that a link leads to back in its place. Then refetch the job.',
  },
  clock: {
    words: "the clock of the replica was too far from the store's",
    remedy: `Synchronise the clock of the replica (chrony, systemd-timesyncd). ${RETRIED}`,
  },

  // The body did not arrive, or could not be kept.
  'body-incomplete': {
    words: 'the connection was closed before the body was complete',
    remedy: 'Refetch the job. If this recurs, check time-outs of proxies.',
  },
  'body-too-slow': {
    words: 'the body stalled or was slower than limits.minBytesPerSecond',
    remedy: REFETCH,
  },
  'body-too-large': {
    words: 'the body was larger than maxBytes of the source',
    remedy: 'Refetch the job, whatever its size. For later ones raise maxBytes of the source, and restart.',
  },
  'body-malformed': {
    words: 'the body was undecodable and too large for quarantine',
    remedy: REFETCH,
  },
  'encoding-refused': {
    words: 'the body was compressed twice, or more than 200 : 1',
    remedy: 'Refetch the job, and let no proxy encode bodies.',
  },
  'write-race': {
    words: 'another delivery wrote the same artefact meanwhile',
    remedy: RETRIED,
  },
  erased: { words: 'the job was erased, so nothing was stored', remedy: null },

  // The body is in quarantine.
  'json-invalid': { words: 'the body is declared as JSON but does not parse', remedy: REFETCH },
  'multipart-unsupported': { words: 'the body is multipart, but not form-data', remedy: REFETCH },
  'multipart-boundary': { words: 'the multipart boundary is missing or invalid', remedy: REFETCH },
  'multipart-header': { words: 'a part has invalid headers', remedy: REFETCH },
  'multipart-unterminated': { words: 'the closing delimiter is missing', remedy: REFETCH },
  'multipart-unaccounted': {
    words: 'the parts do not account for all bytes',
    remedy: REFETCH,
  },
  'too-many-parts': {
    words: 'the body has more than 100 parts',
    remedy: REFETCH,
  },
  'encoding-unsupported': {
    words: 'the Content-Encoding is unsupported',
    remedy: 'Refetch the job, and let no proxy encode bodies.',
  },
  'encoding-corrupt': { words: 'the compressed body is corrupt', remedy: REFETCH },
  'request-damaged': {
    words: 'request.json of the quarantined body is damaged, so that it cannot be decoded',
    remedy: 'Refetch the job, or import its results. If nobody needs the body, dismiss it.',
  },
  'body-damaged': {
    words: 'the quarantined body has other bytes than the one that arrived',
    remedy:
      'Restore it from a backup, refetch the job, or import its results. If nobody needs it, dismiss it.',
  },

  // Sign-ins to the admin port, and what was opened there.
  'sign-in-missing': { words: 'an admin request had no token', remedy: FRESH_SIGN_IN },
  'sign-in-repeated': {
    words: 'an admin request had several tokens',
    remedy: 'Send one Authorization header. A proxy may add its own.',
  },
  'sign-in-wrong': { words: 'an admin request had an invalid token', remedy: FRESH_SIGN_IN },
  'sign-in-ticket-wrong': {
    words: 'a download had an invalid ticket',
    remedy: 'Reload the page of the job.',
  },
  'sign-in-ticket-expired': {
    words: 'a download had an expired ticket',
    remedy: 'Reload the page of the job.',
  },
  ticket: { words: 'a ticket was issued for the artefacts of the job', remedy: null },

  // Realtime sessions: how one ended before its transcript was complete.
  'audio-unreadable': {
    words: 'the audio could not be read to its end',
    remedy: 'Check the audio source, and capture the rest again.',
  },
  'duration-limit': {
    words: 'the service reached its duration limit and ignored further audio',
    remedy: 'Send the rest in a new session.',
  },
  'service-error': { words: 'the service ended the session with an error', remedy: null },
  'socket-closed': { words: 'the connection to the service was closed', remedy: null },
  timeout: { words: 'the service sent nothing in time', remedy: null },
  malformed: { words: 'the service sent an invalid message', remedy: null },
  'ended-early': { words: 'the transcript ended before the audio', remedy: null },
  aborted: { words: 'the session was aborted', remedy: null },
  invalid_message: { words: 'the service did not understand a message', remedy: null },
  invalid_model: { words: 'the language is not supported for this account', remedy: null },
  invalid_config: { words: 'the configuration has wrong fields', remedy: null },
  invalid_audio_type: { words: 'the audio type is unsupported, deprecated or malformed', remedy: null },
  invalid_output_format: {
    words: 'the output format is unsupported, deprecated or malformed',
    remedy: null,
  },
  not_authorised: { words: 'the key was refused: check it, or fetch a new temporary key', remedy: null },
  insufficient_funds: { words: 'the account cannot be charged', remedy: null },
  not_allowed: { words: 'this user may not do that', remedy: null },
  job_error: { words: 'the service could not work on the job: try again', remedy: null },
  data_error: { words: 'too much was sent at once: send smaller frames', remedy: null },
  buffer_error: {
    words: 'audio came too fast: send it closer to real time',
    remedy: null,
  },
  protocol_error: { words: 'a message came in the wrong order', remedy: null },
  unknown_error: { words: 'the service failed', remedy: null },
  invalid_language: { words: 'the language is not supported', remedy: null },
  quota_exceeded: {
    words: 'the quota of sessions or hours is used up: try again',
    remedy: null,
  },
  timelimit_exceeded: { words: 'the time limit of the account is used up', remedy: null },
  idle_timeout: { words: 'no audio came for too long', remedy: null },
  session_timeout: { words: 'the session lasted too long', remedy: null },

  // Answers of the admin port.
  'request-invalid': {
    words: 'the request was not valid',
    remedy: 'Correct the input that the message names.',
  },
  'host-unknown': {
    words: 'the host is not one of the admin port',
    remedy: 'Use an address or an internal name, or add it to admin.hosts.',
  },
  'right-missing': {
    words: 'the token lacks the right',
    remedy: 'Sign in with a token that has it.',
  },
  'scope-exceeded': {
    words: 'the job also belongs to sources that the token may not see',
    remedy: 'Use a token for every source of the job.',
  },
  'not-found': {
    words: 'there is nothing of this name',
    remedy: 'Check the id. It may be erased, or older than the ledger.',
  },
  conflict: {
    words: 'the request conflicts with the current state',
    remedy: 'Set the setting that the message names, or reload the page.',
  },
  'range-not-satisfiable': {
    words: 'the range is outside the artefact',
    remedy: 'Ask for a range within its size.',
  },
  'too-many-attempts': {
    words: 'there were too many attempts',
    remedy: 'Wait a minute before the next attempt.',
  },
  'service-unreachable': {
    words: 'the speech service is unreachable',
    remedy: 'Check speech.apiKey and batchUrl, then run transcript-receiver doctor. Nothing was changed.',
  },
  internal: {
    words: 'an unexpected error occurred',
    remedy: 'See the log: event "unexpected", at this time.',
  },
} as const satisfies Readonly<Record<ProblemCode, Reason & { readonly remedy: string }>> &
  Readonly<Record<string, Reason>>;

export type ReasonCode = ProblemCode | keyof typeof REASONS;

/** A connection began with another protocol than HTTP/1.1. */
export const OTHER_PROTOCOL_REASONS: readonly ReasonCode[] = ['proxy-protocol', 'tls', 'http2'];

export function isReasonCode(value: unknown): value is ReasonCode {
  // An own property: reasons come from untrusted input too and could be `constructor`.
  return typeof value === 'string' && Object.hasOwn(REASONS, value);
}

/** The entry of a code; null for a reason that an operator or the service wrote. */
export function reasonOf(code: string | null | undefined): Reason | null {
  return isReasonCode(code) ? REASONS[code] : null;
}

/** A reason as text; one that an operator or the service wrote is returned unchanged, and none is null. */
export function reasonInWords(reason: string | null | undefined): string | null {
  return reasonOf(reason)?.words ?? (reason || null);
}

export function remedyFor(reason: string | null | undefined): string | null {
  return reasonOf(reason)?.remedy ?? null;
}

/** What to do about a failing job whatever its reason is. */
const FAILURE_REMEDIES: Readonly<Record<string, string>> = {
  conflict: 'Read both versions on the page of the job, and choose the one that is right.',
  unrecoverable: 'Import the results if you have them elsewhere, or acknowledge the loss.',
};

/** Null where the reason alone says what to do. */
export function remedyForFailure(outcome: string): string | null {
  return Object.hasOwn(FAILURE_REMEDIES, outcome) ? (FAILURE_REMEDIES[outcome] ?? null) : null;
}
