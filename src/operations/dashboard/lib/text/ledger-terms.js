import { KINDS } from '../../vendor/kinds.js';

/** @import { LedgerLine } from '../api/api-answers.js' */
/** @import { Tone } from '../elements/status.js' */

/**
 * An own property. Keys come from untrusted input and could be `constructor`.
 * @template T
 * @param {Record<string, T>} table @param {string} name
 */
export function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Outcomes, kinds and origins of the ledger as text. All these sets are open: unknown names are shown as they are. */

/** @type {Record<string, [Tone, string]>} */
const OUTCOMES = {
  stored: ['good', 'Stored'],
  duplicate: ['good', 'Duplicate'],
  recovered: ['good', 'Recovered'],
  released: ['good', 'Released'],
  matched: ['good', 'Complete'],
  sent: ['good', 'Sent'],
  rejected: ['bad', 'Rejected'],
  noted: ['neutral', 'Noted'],
  replayed: ['neutral', 'Replayed'],
  'reconcile-started': ['neutral', 'Reconcile started'],
  'release-failed': ['notice', 'Release failed'],
  dismissed: ['neutral', 'Dismissed'],
  cancelled: ['neutral', 'Cancelled'],
  acknowledged: ['neutral', 'Acknowledged'],
  chosen: ['good', 'Chosen'],
  erased: ['neutral', 'Erased'],
  expired: ['neutral', 'Expired'],
  read: ['neutral', 'Read'],
  'signed-in': ['neutral', 'Signed in'],
  'sign-in-failed': ['notice', 'Sign-in failed'],
  'credential-checked': ['neutral', 'Credential checked'],
  pending: ['neutral', 'Pending'],
  conflict: ['notice', 'Conflict'],
  quarantined: ['notice', 'Quarantined'],
  refused: ['bad', 'Refused'],
  unrecoverable: ['bad', 'Unrecoverable'],
  failed: ['bad', 'Failed'],
  undecodable: ['bad', 'Still undecodable'],
};

/** @param {string} name @returns {{tone: Tone, word: string}} */
export function outcomeOf(name) {
  const [tone, word] = own(OUTCOMES, name) ?? ['neutral', name];
  return { tone, word };
}

/** @param {string} kind */
export function kindInWords(kind) {
  return own(KINDS, kind)?.label ?? kind;
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

/**
 * What an operator did, by outcome. The reason of such a line is what the operator typed.
 * @type {Record<string, string>}
 */
const ACTS = {
  released: 'released',
  dismissed: 'dismissed',
  acknowledged: 'acknowledged',
  chosen: 'chosen',
  erased: 'erased',
  cancelled: 'replay cancelled',
  'reconcile-started': 'reconcile started',
};

/**
 * The act of an operator that a line records, as in "erased by anna: …"; null when it records none, or the result of one.
 * @param {Pick<LedgerLine, 'origin' | 'outcome' | 'jobId'>} line
 */
export function actOf({ origin, outcome, jobId }) {
  if (origin === 'import') return 'imported';
  if (origin !== 'replay') return null;
  if (outcome === 'replayed') return jobId === null ? 'replay started' : 'refetch started';
  return own(ACTS, outcome) ?? null;
}

/**
 * From where a line comes: "erased by anna", "refetched by ben", "callback".
 * @param {LedgerLine} line
 */
export function provenanceOf(line) {
  const { origin, outcome, actor } = line;
  const isRefetch = origin === 'replay' && outcome !== 'release-failed';
  const name = actOf(line) ?? (isRefetch ? 'refetched' : originInWords(origin));
  return actor ? `${name} by ${actor}` : name;
}

/**
 * Whether a line records an access on the admin port, not something that happened to the job.
 * @param {Pick<LedgerLine, 'origin'>} line
 */
export function isAccess({ origin }) {
  return origin === 'admin';
}
