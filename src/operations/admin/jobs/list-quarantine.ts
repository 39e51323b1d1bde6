import type { QuarantinedRequest } from '../../../archive/quarantine/quarantine.js';
import type { QuarantineEntry } from '../../../archive/quarantine/quarantine-count.js';
import type { QuarantineStore } from '../../../archive/quarantine/quarantine-store.js';
import type { QuarantineState } from '../../../domain/quarantined-body.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { decodeIdCursor, encodeIdCursor } from '../../../lib/text/id-cursor.js';
import { inGroups } from '../../../store/in-groups.js';
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
  /** Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Bodies of the store that one page looks at, and those of them that it reads; one that needs more ends early with a cursor. */
const MAX_LOOKED = 10_000;
const MAX_READS = 1000;
const READS_AT_ONCE = 16;

/** Newest first. Throws `request-invalid` for an invalid cursor. */
export async function listQuarantine(
  store: QuarantineStore,
  query: QuarantineQuery,
): Promise<QuarantineList> {
  const { limit = 50, state = 'waiting', cursor, job, signal } = query;
  const range = { before: cursor === undefined ? undefined : decodeIdCursor(cursor), signal };
  const entries = job === undefined ? store.newest(range) : store.newestOf(job, range);
  const page: ListedBody[] = [];
  const until = (id: string) => ({ quarantine: page, nextCursor: encodeIdCursor(id) });
  let [looked, reads, last] = [0, 0, ''];
  for await (const group of inGroups(entries, Math.min(READS_AT_ONCE, limit))) {
    signal?.throwIfAborted();
    const possible = group.filter((entry) => mayBe(state, entry));
    if (page.length === limit && possible.length > 0) return until(last);
    const bodies = await Promise.all(possible.map((entry) => describe(store, entry)));
    for (const [index, body] of bodies.entries()) {
      if (page.length === limit) return until(last);
      last = possible[index]?.id ?? last;
      if (body !== null && (state === 'all' || body.state === state) && matches(body, query)) page.push(body);
    }
    looked += group.length;
    reads += possible.length;
    if (looked >= MAX_LOOKED || reads >= MAX_READS) return until(group.at(-1)?.id ?? last);
  }
  return { quarantine: page, nextCursor: null };
}

/** One that waits may turn out to be settled. */
function mayBe(state: QuarantineState | 'all', entry: QuarantineEntry): boolean {
  return state === 'all' || entry.state === state || (entry.state === 'waiting' && state === 'settled');
}

async function describe(store: QuarantineStore, entry: QuarantineEntry): Promise<ListedBody | null> {
  const { id, bytes } = entry;
  const request = await store.request(id);
  if (request === null) return null;
  const state = entry.state === 'waiting' && (await store.isStored(request)) ? 'settled' : entry.state;
  const release = state === 'released' ? await store.release(id) : null;
  const settlement = entry.state === 'settled' ? await store.settlement(id) : null;
  return { ...request, deliveryId: id, bytes, state, release, settlement };
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
