import type { ItemIdentity, ItemKind } from '../domain/item.js';

/**
 * Where everything lies in the store: the contract with bucket readers (docs/store-layout.md).
 * All keys are relative to the store's prefix; `keyPrefix` is the source's own, empty or ending in `/`.
 */
const ARTEFACT_FILES: Record<Exclude<ItemKind, 'attachment'>, string> = {
  'transcript.json-v2': 'transcript.json',
  'transcript.txt': 'transcript.txt',
  'transcript.srt': 'transcript.srt',
  jobinfo: 'jobinfo.json',
  data: 'data',
};

export function jobFolder(keyPrefix: string, jobId: string): string {
  return `${keyPrefix}jobs/${jobId}/`;
}

/** Path of an artefact below its job's folder, e.g. `transcript.json` or `attachments/0a1b2c3d4e5f6071.bin`. */
export function artefactPath(identity: ItemIdentity): string {
  return identity.kind === 'attachment'
    ? `attachments/${identity.attachmentName ?? 'unnamed'}`
    : ARTEFACT_FILES[identity.kind];
}

/** The kind an artefact path stands for; the inverse of `artefactPath`, conflicts included. */
export function kindOfPath(path: string): ItemKind {
  const file = path.startsWith('conflicts/') ? path.slice('conflicts/'.length) : path;
  for (const [kind, name] of Object.entries(ARTEFACT_FILES) as [ItemKind, string][]) {
    if (path === name || (file !== path && file.startsWith(`${name}.`))) return kind;
  }
  return 'attachment';
}

/** Key for bytes that differ from what already lies at `path`; `mark` is their sha256 or, streamed, the delivery id. */
export function conflictKey(folder: string, path: string, mark: string): string {
  const fileName = path.slice(path.lastIndexOf('/') + 1);
  return `${folder}conflicts/${fileName}.${mark}`;
}

/**
 * Says which copy of a conflict is the one, where identical streamed bodies came at the same moment. No part of what bucket
 * readers see.
 */
export function conflictClaimKey(folder: string, path: string, sha256: string): string {
  return `${conflictClaims(folder)}${conflictKey('', path, sha256)}`;
}

/** Folder of all claims of a job. */
export function conflictClaims(folder: string): string {
  return `.conflicts/${folder}`;
}

export const LEDGER_FOLDER = 'ledger/';

/** Folder of the ledger partition of an instant, in UTC. */
export function ledgerPartition(instant: string): string {
  return `${LEDGER_FOLDER}dt=${instant.slice(0, 10)}/hour=${instant.slice(11, 13)}/`;
}

export const QUARANTINE_FOLDER = 'quarantine/';

export function quarantineFolder(deliveryId: string): string {
  return `${QUARANTINE_FOLDER}${deliveryId}/`;
}

export const REPLAYS_FOLDER = 'replays/';

export function replayKey(replayId: string): string {
  return `${REPLAYS_FOLDER}${replayId}.json`;
}

/** Says that a job was erased here on purpose: recovery does not fetch it again. No part of what bucket readers see. */
export function erasureKey(jobId: string): string {
  return `.erasures/${jobId}.json`;
}

export const REPORTS_FOLDER = 'reports/reconcile/';

/** Reports sort by time: `:` is kept out of keys because some file systems refuse it. */
export function reconcileReportKey(startedAt: string): string {
  return `${REPORTS_FOLDER}${startedAt.replaceAll(':', '-')}.json`;
}
