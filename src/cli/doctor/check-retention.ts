import {
  artefactPath,
  ERASURE_LOG,
  ERASURES_FOLDER,
  jobFolder,
  quarantineFolder,
  reconcileReportKey,
  replayKey,
} from '../../archive/layout.js';
import { CONTENT_CLASSES, RECORD_CLASSES, type RetentionClass } from '../../domain/kinds.js';
import { ledgerPartition } from '../../ledger/hours.js';
import { OUTBOX_FOLDER } from '../../ledger/ledger-keys.js';
import type { BucketLifecycle } from '../../store/s3/bucket/bucket-lifecycle.js';
import { type Finding, failed, passed, skipped, warned } from './finding.js';

const CHECK = 'store retention';
const ADVICE = 'Make retention and the lifecycle rules say the same (docs/stores.md, "Lifecycle").';
const DAY = 86_400_000;

export interface RetentionCheck {
  /** Milliseconds by kind; null: kept forever. */
  readonly periods: Readonly<Record<RetentionClass, number | null>>;
  /** Key prefixes of all sources. */
  readonly keyPrefixes: readonly string[];
  /** Whether objects with content of jobs carry tags. */
  readonly tags: boolean;
  readonly daysUntilEnd: BucketLifecycle['daysUntilEnd'];
}

/**
 * Compares `retention` with the lifecycle rules of the bucket, for objects of every kind and key prefix. Rules for a single source are not
 * compared, because the setting has no sources.
 */
export function checkRetention({ periods, keyPrefixes, tags, daysUntilEnd }: RetentionCheck): Finding[] {
  if (daysUntilEnd === null) return [skipped(CHECK, "The bucket's lifecycle rules cannot be read.")];
  const prefixes = keyPrefixes.length > 0 ? keyPrefixes : [''];
  const findings = [...CONTENT_CLASSES, ...RECORD_CLASSES].flatMap((kind) => {
    const found = new Set(
      prefixes.map((prefix) => daysUntilEnd(exampleKey(kind, prefix), tags ? { kind } : {})),
    );
    const faults = [...found].flatMap((days) => difference(kind, periods[kind], days) ?? []);
    return faults.map((fault) => warned(CHECK, fault, ADVICE));
  });
  findings.push(...endedRecords(daysUntilEnd));
  return findings.length > 0 ? findings : [passed(CHECK, 'The lifecycle rules agree with retention.')];
}

/** Folders that no rule may expire, in whole. */
const NEVER_EXPIRED = ['.store/', ERASURES_FOLDER, ERASURE_LOG, OUTBOX_FOLDER];

function endedRecords(daysUntilEnd: NonNullable<RetentionCheck['daysUntilEnd']>): Finding[] {
  const ended = NEVER_EXPIRED.filter((folder) => daysUntilEnd(`${folder}example`, {}) !== null);
  if (ended.length === 0) return [];
  return [
    failed(
      CHECK,
      `A lifecycle rule expires what has to stay, below ${ended.join(', ')}: the receiver would forget which store this is, store erased jobs again, or lose events.`,
      'Restrict the rule to what may expire (docs/stores.md, "Lifecycle").',
    ),
  ];
}

/** Null when rules and setting agree, and for records without a period, which `verify` does not check. */
function difference(kind: RetentionClass, period: number | null, days: number | null): string | null {
  const wanted = period === null ? null : Math.round(period / DAY);
  if (wanted === days) return null;
  if (wanted === null) {
    if (isRecord(kind)) return null;
    return `A lifecycle rule expires ${kind} after ${days} days, but retention.${kind} is not set: verify reports it as missing.`;
  }
  const said = `retention.${kind} is ${wanted} days`;
  if (days === null)
    return `${said}, but no lifecycle rule expires such objects: they stay, and a lost one counts as expired.`;
  return `${said}, but a lifecycle rule expires such objects after ${days} days.`;
}

function isRecord(kind: RetentionClass): boolean {
  return (RECORD_CLASSES as readonly string[]).includes(kind);
}

/** A key that lifecycle rules match by its prefix. */
export function exampleKey(kind: RetentionClass, keyPrefix: string): string {
  const time = '2000-01-01T00:00:00.000Z';
  switch (kind) {
    case 'quarantine':
      return `${quarantineFolder('example')}body`;
    case 'ledger':
      return `${ledgerPartition(time)}example.ndjson`;
    case 'reports':
      return reconcileReportKey(time);
    case 'replays':
      return replayKey('example');
    default: {
      const item = kind === 'transcript' ? 'transcript.json-v2' : kind;
      return jobFolder(keyPrefix, 'example') + artefactPath({ kind: item });
    }
  }
}
