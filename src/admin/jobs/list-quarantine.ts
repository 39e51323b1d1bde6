import type { QuarantinedRequest } from '../../archive/quarantine/quarantine.js';
import type { QuarantineEntry, QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import type { QuarantineState } from '../../domain/quarantined-body.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { decodeIdCursor, encodeIdCursor } from '../../text/id-cursor.js';
import type { ListedBody, QuarantineList } from '../api/answers/quarantine.js';

export interface QuarantineQuery {
  /** Default `waiting`. */
  readonly state?: QuarantineState | 'all' | undefined;
  readonly job?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  readonly reason?: string | undefined;
  /** Only bodies of these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  /** Most bodies to look up in the archive; see `QuarantineStore`. */
  readonly checks?: number | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Requests that one page may read; a page that needs more ends early with a cursor. */
const MAX_READS = 1000;
const READS_AT_ONCE = 16;

/** Newest first. Throws `request-invalid` for an invalid cursor. */
export async function listQuarantine(
  store: QuarantineStore,
  query: QuarantineQuery,
): Promise<QuarantineList> {
  const { limit = 50, state = 'waiting', cursor, job, checks } = query;
  const before = cursor === undefined ? '~' : decodeIdCursor(cursor);
  const all = job === undefined ? store.entries(checks) : store.entriesOf(job);
  const entries = (await all).filter(
    (entry) => entry.id < before && (state === 'all' || entry.state === state),
  );
  const page: ListedBody[] = [];
  for (let read = 0; read < entries.length; read += READS_AT_ONCE) {
    const group = entries.slice(read, read + READS_AT_ONCE);
    for (const [index, body] of (await Promise.all(group.map((entry) => describe(store, entry)))).entries()) {
      const id = group[index]?.id ?? '';
      if (body !== null && matches(body, query)) page.push(body);
      const more = read + index + 1 < entries.length;
      if (more && page.length === limit) return { quarantine: page, nextCursor: encodeIdCursor(id) };
    }
    const last = group.at(-1);
    if (last && read + READS_AT_ONCE >= MAX_READS && read + READS_AT_ONCE < entries.length) {
      return { quarantine: page, nextCursor: encodeIdCursor(last.id) };
    }
  }
  return { quarantine: page, nextCursor: null };
}

async function describe(store: QuarantineStore, entry: QuarantineEntry): Promise<ListedBody | null> {
  const request = await store.request(entry.id);
  if (request === null) return null;
  const release = entry.state === 'released' ? await store.release(entry.id) : null;
  const settlement = entry.state === 'settled' ? await store.settlement(entry.id) : null;
  return { ...request, deliveryId: entry.id, bytes: entry.bytes, state: entry.state, release, settlement };
}

function matches(body: QuarantinedRequest, query: QuarantineQuery): boolean {
  const { job, source, region, reason, scope = null } = query;
  return (
    isInScope(scope, body.source) &&
    (job === undefined || body.jobId === job) &&
    (source === undefined || body.source === source) &&
    (region === undefined || body.region === region) &&
    (reason === undefined || body.reason === reason)
  );
}
