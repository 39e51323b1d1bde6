import { Problem } from '../domain/problem.js';
import type { LedgerView } from './ledger-view.js';
import type { QuarantineShelf } from './quarantine-shelf.js';

/** What a replay is to work on; filters add up (DESIGN section 6, "Shapes"). */
export interface ReplaySelector {
  /** `refetch` fetches jobs from the service, `release` decodes quarantined bodies again. */
  readonly kind: 'refetch' | 'release';
  readonly jobs?: readonly string[] | undefined;
  /** ISO 8601; received at or after it. */
  readonly since?: string | undefined;
  /** ISO 8601; received before it. */
  readonly until?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  readonly status?: string | undefined;
  readonly outcome?: string | undefined;
}

/** What a selector stands for now. */
export interface ReplaySelection {
  /** Job ids to refetch, or delivery ids of bodies to release; each once. */
  readonly items: readonly string[];
  /** Of bodies their size; of jobs the largest that was received of each so far. */
  readonly bytes: number;
  readonly jobs: readonly string[];
}

export interface SelectionParts {
  readonly view: Pick<LedgerView, 'rows'>;
  readonly shelf: QuarantineShelf;
}

export const MAX_REPLAY_ITEMS = 100_000;
const READS_AT_ONCE = 16;

/** Throws `request-invalid` for a refetch of everything, and for more than can be taken on at once. */
export async function selectItems(parts: SelectionParts, selector: ReplaySelector): Promise<ReplaySelection> {
  const selection =
    selector.kind === 'refetch' ? await selectJobs(parts, selector) : await selectBodies(parts, selector);
  if (selection.items.length <= MAX_REPLAY_ITEMS) return selection;
  throw new Problem('request-invalid', `More than ${MAX_REPLAY_ITEMS} are selected: narrow it down.`);
}

/** Jobs that were named are taken even if nothing was ever received of them; that is what recovery is for. */
async function selectJobs({ view }: SelectionParts, selector: ReplaySelector): Promise<ReplaySelection> {
  const { kind: _kind, jobs, ...filters } = selector;
  const filtered = Object.values(filters).some((value) => value !== undefined);
  if (jobs === undefined && !filtered) {
    throw new Problem('request-invalid', 'A refetch needs jobs or at least one filter.');
  }
  const named = jobs === undefined ? null : new Set(jobs);
  const bytes = new Map<string, number>(filtered ? [] : [...(named ?? [])].map((job) => [job, 0]));
  for await (const rows of view.rows(filters)) {
    for (const { job, bytes: size } of rows) {
      if (job === null || (named !== null && !named.has(job))) continue;
      bytes.set(job, Math.max(bytes.get(job) ?? 0, size));
    }
    if (bytes.size > MAX_REPLAY_ITEMS) break;
  }
  const items = [...bytes.keys()];
  return { items, jobs: items, bytes: [...bytes.values()].reduce((sum, size) => sum + size, 0) };
}

async function selectBodies({ shelf }: SelectionParts, selector: ReplaySelector): Promise<ReplaySelection> {
  const named = selector.jobs === undefined ? null : new Set(selector.jobs);
  const jobs = new Set<string>();
  const items: string[] = [];
  let bytes = 0;
  const waiting = (await shelf.entries()).filter(({ state }) => state === 'waiting').reverse();
  for (let index = 0; index < waiting.length; index += READS_AT_ONCE) {
    const group = waiting.slice(index, index + READS_AT_ONCE);
    const requests = await Promise.all(group.map(({ id }) => shelf.request(id)));
    for (const [place, request] of requests.entries()) {
      const entry = group[place];
      if (request === null || entry === undefined || !selects(selector, named, request)) continue;
      items.push(entry.id);
      jobs.add(request.jobId);
      bytes += entry.bytes;
    }
    if (items.length > MAX_REPLAY_ITEMS) break;
  }
  return { items, bytes, jobs: [...jobs] };
}

function selects(
  selector: ReplaySelector,
  named: ReadonlySet<string> | null,
  body: { jobId: string; receivedAt: string; source: string; region: string | null; status: string },
): boolean {
  const { since, until, source, region, status, outcome } = selector;
  const time = Date.parse(body.receivedAt);
  return (
    (named === null || named.has(body.jobId)) &&
    (since === undefined || time >= Date.parse(since)) &&
    (until === undefined || time < Date.parse(until)) &&
    (source === undefined || body.source === source) &&
    (region === undefined || body.region === region) &&
    (status === undefined || body.status === status) &&
    (outcome === undefined || outcome === 'quarantined')
  );
}
