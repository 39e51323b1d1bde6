import { artefactPath, jobFolder } from '../archive/layout.js';
import { identityOf } from '../content/item-identity.js';
import type { ItemKind } from '../domain/item.js';
import type { JobRecord } from '../speech/wire.js';
import { ownEntries, type RecoverySources } from './own-entries.js';

/** What the service's API can hand out once more. */
export type RetrievableKind = Exclude<ItemKind, 'attachment'>;

/** One artefact that should lie in the archive. */
export interface ExpectedItem {
  readonly kind: RetrievableKind;
  readonly key: string;
  readonly source: string;
}

/** What should be here of one job. */
export interface Expectation {
  /** Sources that were to be told of the job; at least one. */
  readonly sources: readonly string[];
  readonly items: readonly ExpectedItem[];
  /** Contents that the API does not offer and nobody documents: neither missed nor fetched. */
  readonly unjudged: readonly string[];
}

/** Whose jobs are asked for, and how firmly. */
export interface Question {
  readonly sources: RecoverySources;
  readonly publicUrl: string | null;
  /** Only what should have come to this source; also takes jobs that name no receiver at all. */
  readonly source: string | null;
  /** The operator named this very job: it is wanted whatever its own entries say. */
  readonly insist: boolean;
}

const KINDS: Readonly<Record<string, RetrievableKind>> = {
  transcript: 'transcript.json-v2',
  'transcript.json-v2': 'transcript.json-v2',
  'transcript.txt': 'transcript.txt',
  'transcript.srt': 'transcript.srt',
  jobinfo: 'jobinfo',
  data: 'data',
};

/**
 * What should be here of a job: the `contents` of its entries that lead here, else, when asked for, those of
 * the source. Null when the job is none of ours.
 */
export function expectationOf(job: JobRecord, question: Question): Expectation | null {
  const own = ownEntries(job, question.sources, question.publicUrl).filter(
    ({ source }) => question.source === null || question.source === source,
  );
  if (own.length > 0) {
    // Absent `contents` bring the transcript, empty ones a notification without body (interface document).
    return expect(
      job.id,
      question.sources,
      own.map(({ source, entry }) => ({ source, contents: entry.contents ?? ['transcript'] })),
    );
  }
  const source = adoptingSource(job, question);
  if (source === null) return null;
  return expect(job.id, question.sources, [{ source, contents: question.sources[source]?.contents ?? [] }]);
}

/** The source that takes in a job whose entries do not lead to it; null when nobody asked for that. */
function adoptingSource(job: JobRecord, { source, sources, insist }: Question): string | null {
  if (source !== null) {
    const namesReceivers = (job.config.notification_config ?? []).length > 0;
    return insist || !namesReceivers ? source : null;
  }
  const names = Object.keys(sources);
  return insist && names.length === 1 ? (names[0] ?? null) : null;
}

function expect(
  jobId: string,
  sources: RecoverySources,
  orders: readonly { readonly source: string; readonly contents: readonly string[] }[],
): Expectation {
  const items = new Map<string, ExpectedItem>();
  const unjudged = new Set<string>();
  for (const { source, contents } of orders) {
    for (const token of contents) {
      const kind = kindOf(token);
      if (kind === null) unjudged.add(token);
      else {
        const key = keyOf(kind, jobId, sources[source]?.keyPrefix ?? '');
        if (!items.has(key)) items.set(key, { kind, key, source });
      }
    }
  }
  return {
    sources: [...new Set(orders.map(({ source }) => source))],
    items: [...items.values()],
    unjudged: [...unjudged],
  };
}

function kindOf(token: string): RetrievableKind | null {
  const name = token.trim().toLowerCase().replaceAll(':', '.');
  return Object.hasOwn(KINDS, name) ? (KINDS[name] ?? null) : null;
}

function keyOf(kind: RetrievableKind, jobId: string, keyPrefix: string): string {
  return jobFolder(keyPrefix, jobId) + artefactPath(identityOf(kind));
}
