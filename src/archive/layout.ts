import { type ArtefactFacts, artefactMetadata } from '../domain/artefact-metadata.js';
import type { ItemIdentity } from '../domain/item.js';
import { ITEM_KINDS, type ItemKind, KINDS, type RetentionClass, retentionClassOf } from '../domain/kinds.js';
import { LEDGER_FOLDER, MERGED_FOLDER, OUTBOX_FOLDER } from '../ledger/ledger-keys.js';
import type { ObjectHeaders } from '../store/object-store.js';

/**
 * The keys of all objects: the contract with bucket readers (docs/store-layout.md). They are relative to the store's
 * prefix; `keyPrefix` is the source's, empty or ending in `/`.
 */
const ARTEFACT_FILES = ITEM_KINDS.flatMap((kind) => {
  const { file } = KINDS[kind];
  return file === null ? [] : [{ kind, file }];
});

export function jobsFolder(keyPrefix: string): string {
  return `${keyPrefix}jobs/`;
}

export function jobFolder(keyPrefix: string, jobId: string): string {
  return `${keyPrefix}jobs/${jobId}/`;
}

type ItemPath = Pick<ItemIdentity, 'kind' | 'attachmentName'>;

/** Path of an artefact below its job's folder, e.g. `transcript.json` or `attachments/0a1b2c3d4e5f6071.bin`. */
export function artefactPath({ kind, attachmentName = 'unnamed' }: ItemPath): string {
  return KINDS[kind].file ?? `attachments/${attachmentName}`;
}

/** Keys of the artefacts of a job whose names are known. */
export function knownKeys(keyPrefix: string, jobId: string): string[] {
  return ARTEFACT_FILES.map(({ file }) => jobFolder(keyPrefix, jobId) + file);
}

/** The kind of an artefact, by its path; the inverse of `artefactPath`, conflicts included. */
export function kindOfPath(path: string): ItemKind {
  const name = path.startsWith('conflicts/') ? path.slice('conflicts/'.length) : null;
  const found = ARTEFACT_FILES.find(({ file }) => path === file || name?.startsWith(`${file}.`));
  return found?.kind ?? 'attachment';
}

/** Suffix of the file name of a conflict: the sha256 of its bytes or, if streamed, the delivery id and from the second one on a number. */
const CONFLICT_MARK = '\\.[0-9A-Za-z]+(?:-\\d+)?';
const CONFLICT_PATH = new RegExp(`^conflicts/(.+)${CONFLICT_MARK}$`);

/** Key for bytes that differ from those at `path`; `mark` is their sha256 or, for streamed ones, the delivery id. */
export function conflictKey(folder: string, path: string, mark: string): string {
  const fileName = path.slice(path.lastIndexOf('/') + 1);
  return `${folder}conflicts/${fileName}.${mark}`;
}

/** File name of the artefact that a conflict belongs to; null for other paths. */
export function disputedFile(path: string): string | null {
  return CONFLICT_PATH.exec(path)?.[1] ?? null;
}

/**
 * Key of the claim that decides which copy of a conflict stays when identical bodies were streamed concurrently. Not part
 * of the contract with bucket readers.
 */
export function conflictClaimKey(folder: string, path: string, sha256: string): string {
  return `${conflictClaims(folder)}${conflictKey('', path, sha256)}`;
}

/** Folder of the claims of all jobs. */
export const CONFLICT_CLAIMS_FOLDER = '.conflicts/';

/** Folder of all conflict claims of a job. */
export function conflictClaims(folder: string): string {
  return `${CONFLICT_CLAIMS_FOLDER}${folder}`;
}

export const QUARANTINE_FOLDER = 'quarantine/';

export function quarantineFolder(deliveryId: string): string {
  return `${QUARANTINE_FOLDER}${deliveryId}/`;
}

/**
 * Index of the quarantine by job: `<job id>/<delivery id>`, written before the body and removed after it. Not part of the
 * contract with bucket readers.
 */
export const QUARANTINE_INDEX = '.quarantine-jobs/';

export function quarantineMarkers(jobId: string): string {
  return `${QUARANTINE_INDEX}${jobId}/`;
}

export function quarantineMarker(jobId: string, deliveryId: string): string {
  return `${quarantineMarkers(jobId)}${deliveryId}`;
}

export const REPLAYS_FOLDER = 'replays/';

export function replayKey(replayId: string): string {
  return `${REPLAYS_FOLDER}${replayId}.json`;
}

/** Key of a sender's position in the ledger. */
export function outboxStateKey(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/state.json`;
}

/** Folder of the waiting events of a subscriber that are stored outside its state. */
export function waitingFolder(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/waiting/`;
}

/** Key of the note that a process that does not send to a subscriber has ended its pause. */
export function endedPauseKey(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/ended-pause.json`;
}

/** Key of the claim on a subscriber, numbered from 1; each belongs to one replica. */
export function outboxClaimKey(subscriber: string, claim: number): string {
  return `${claimsPrefix(subscriber)}${String(claim).padStart(9, '0')}.json`;
}

/** Prefix of the keys of the claims of a subscriber. */
export function claimsPrefix(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/claim-`;
}

/** Folder of the dead events of a subscriber, which are no longer sent. */
export function deadEventsFolder(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/dead/`;
}

export function deadEventKey(subscriber: string, eventId: string): string {
  return `${deadEventsFolder(subscriber)}${eventId}.json`;
}

/** Index of dead events by job. Not part of the contract with bucket readers. */
export const OUTBOX_INDEX = '.outbox-jobs/';

export function deadEventMarkers(jobId: string): string {
  return `${OUTBOX_INDEX}${jobId}/`;
}

export function deadEventMarker(jobId: string, subscriber: string, eventId: string): string {
  return `${deadEventMarkers(jobId)}${subscriber}/${eventId}`;
}

/** Folder of the marks of erased jobs. Not part of the contract with bucket readers. */
export const ERASURES_FOLDER = '.erasures/';

/** Key of the mark of an erased job; results of that job are never stored again. */
export function erasureKey(jobId: string): string {
  return `${ERASURES_FOLDER}${jobId}.json`;
}

/** Folder of the erasures in order of time: `<ULID>-<job id>`. Not part of the contract with bucket readers. */
export const ERASURE_LOG = '.erasure-log/';

/** Key of the ULID of the last erasure. */
export const LAST_ERASURE = `${ERASURE_LOG}last`;

/** Folder of the records of jobs that ended without a callback. Not part of the contract with bucket readers. */
export const END_RECORDS_FOLDER = '.ended/';

export function endRecordKey(jobId: string, source: string): string {
  return `${END_RECORDS_FOLDER}${jobId}/${source}.json`;
}

/** Folder of all canaries. Not part of the contract with bucket readers. */
export const CANARY_FOLDER = '.canary/';

/** Folder of the notifications that operators were sent. Not part of the contract with bucket readers. */
export const NOTICES_FOLDER = '.notices/';

/** Folder of the state of retention. Not part of the contract with bucket readers. */
export const RETENTION_FOLDER = '.retention/';
export const RETENTION_STATE = `${RETENTION_FOLDER}state.json`;

/** Prefix of the folders of all reports. */
export const ALL_REPORTS = 'reports/';
export const REPORTS_FOLDER = `${ALL_REPORTS}reconcile/`;
export const VERIFY_REPORTS_FOLDER = `${ALL_REPORTS}verify/`;
/** Counts of unauthenticated refusals, by hour and by run of a replica. */
export const REFUSAL_COUNTS_FOLDER = `${ALL_REPORTS}refusals/`;

/** Reports sort by time. Keys have no `:`, which some file systems reject. */
export function reconcileReportKey(startedAt: string): string {
  return `${REPORTS_FOLDER}${startedAt.replaceAll(':', '-')}.json`;
}

export function verifyReportKey(startedAt: string): string {
  return `${VERIFY_REPORTS_FOLDER}${startedAt.replaceAll(':', '-')}.json`;
}

/** `hour` is `YYYY-MM-DDTHH` in UTC, `run` belongs to one run of one process. */
export function refusalCountsKey(hour: string, run: string): string {
  return `${REFUSAL_COUNTS_FOLDER}${hour}/${run}.json`;
}

/** Folders whose objects all have one kind. Merged hours expire with the ledger. */
const FOLDER_KINDS: readonly (readonly [folder: string, kind: RetentionClass])[] = [
  [QUARANTINE_FOLDER, 'quarantine'],
  [LEDGER_FOLDER, 'ledger'],
  [MERGED_FOLDER, 'ledger'],
  [REPORTS_FOLDER, 'reports'],
  [VERIFY_REPORTS_FOLDER, 'reports'],
  [REFUSAL_COUNTS_FOLDER, 'reports'],
  [REPLAYS_FOLDER, 'replays'],
];

/** `jobs` is no segment of a source's prefix. */
const ARTEFACT_KEY = /^(?:[^.][^/]*\/)*?jobs\/[^/]+\/(.+)$/;

const ATTACHMENT = '(?:[0-9a-f]{16}(?:\\.[A-Za-z0-9]{1,8})?|unnamed)';
const FILE = ARTEFACT_FILES.map(({ file }) => file.replaceAll('.', '\\.')).join('|');
const ARTEFACT_PATH = new RegExp(
  `^(?:${FILE}|attachments/${ATTACHMENT}|conflicts/(?:${FILE}|${ATTACHMENT})${CONFLICT_MARK})$`,
);

/**
 * The kind of an object by its key; null for objects that must never expire: the outbox, marks and claims in dot-folders, and files
 * in a job's folder that are not part of the layout.
 */
export function classOfKey(key: string): RetentionClass | null {
  const found = FOLDER_KINDS.find(([folder]) => key.startsWith(folder));
  if (found !== undefined) return found[1];
  const path = ARTEFACT_KEY.exec(key)?.[1];
  return path !== undefined && ARTEFACT_PATH.test(path) ? retentionClassOf(kindOfPath(path)) : null;
}

/** The delivery of an artefact; determines its key and metadata. */
export interface ArtefactContext extends ArtefactFacts {
  /** The source's own prefix: empty, or ending in `/`. */
  readonly keyPrefix: string;
}

/** Content type, user metadata and tags of an artefact (docs/store-layout.md). */
export function artefactHeaders(
  context: ArtefactContext,
  { kind, contentType, partName }: ItemIdentity,
  { fileName, sha256 }: { fileName?: string | undefined; sha256?: string },
): ObjectHeaders {
  return {
    contentType,
    metadata: artefactMetadata(context, { kind, sha256, fileName, partName }),
    content: { kind: retentionClassOf(kind), source: context.source },
  };
}
