import { listJobObjects } from '../../../archive/artefacts.js';
import { readErasure } from '../../../archive/erasure/erasure.js';
import { isContextValue } from '../../../domain/context.js';
import { isAccess, type LedgerLine } from '../../../domain/delivery.js';
import { isJobId } from '../../../domain/job.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import { type FilterNames, namesInScope } from '../../../index/questions/filter-names.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { JobMatches } from '../../answers/jobs.js';

export interface FindParts {
  readonly store: ObjectStore;
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'deliveries' | 'jobsByPart' | 'extent'>;
  readonly names: FilterNames;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Jobs that are listed. */
const MAX_JOBS = 20;
const PAGE = 500;
/** Milliseconds for which lines are searched for a part of a context: the index knows whole values only. */
const PATIENCE = 1_000;
const MONTH = 30 * 86_400_000;

type Found = JobMatches['jobs'][number];

/**
 * Jobs with this id or this context, a value or `name=value`, else those whose id or context contains the text, newest first. An
 * id is found at any age while anything of the job is stored; a part of one as far back as the index reaches, and a part of a context as far
 * back as a second does.
 */
export async function findJobs(parts: FindParts, text: string, scope: SourceScope): Promise<JobMatches> {
  const found = new Map<string, Found>();
  const add = (line: LedgerLine, by: Found['by']) => {
    if (line.jobId === null || found.has(line.jobId) || found.size >= MAX_JOBS) return;
    const { jobId, context = null, receivedAt, outcome } = line;
    found.set(jobId, { jobId, by, context, receivedAt, outcome });
  };
  await findById(parts, text, scope, add, found);
  await findByContext(parts, text, scope, add);
  const isFull = () => found.size >= MAX_JOBS;
  const since = found.size > 0 ? null : await findByPart(parts, text, scope, add, isFull);
  const jobs = await newestFirst(parts.store, [...found.values()]);
  return { jobs, more: isFull(), since, index: parts.view.extent() };
}

/** Lines of erasures have no context, so a search by it stops at an older line, such as `stored`. */
async function newestFirst(store: ObjectStore, jobs: readonly Found[]): Promise<Found[]> {
  const current = await Promise.all(
    jobs.map(async (job): Promise<Found> => {
      const mark = await readErasure(store, job.jobId);
      return mark === null
        ? job
        : { ...job, outcome: 'erased', receivedAt: mark.finishedAt ?? mark.erasedAt };
    }),
  );
  return current.toSorted(byNewest);
}

function byNewest(a: Pick<LedgerLine, 'receivedAt'>, b: Pick<LedgerLine, 'receivedAt'>): number {
  return a.receivedAt < b.receivedAt ? 1 : -1;
}

type Add = (line: LedgerLine, by: Found['by']) => void;

async function findById(
  { store, keyPrefixes, view }: FindParts,
  text: string,
  scope: SourceScope,
  add: Add,
  found: Map<string, Found>,
): Promise<void> {
  if (!isJobId(text)) return;
  const { deliveries } = await view.deliveries({ job: text, limit: 1, without: 'accesses', scope });
  for (const line of deliveries) add(line, 'id');
  if (found.size > 0) return;
  for await (const { key, modifiedAt } of listJobObjects(store, keyPrefixes, text)) {
    const info = scope === null ? null : await store.head(key);
    if (scope !== null && !isInScope(scope, info?.metadata.source)) continue;
    const receivedAt = modifiedAt.toISOString();
    found.set(text, { jobId: text, by: 'id', context: null, receivedAt, outcome: 'stored' });
    return;
  }
}

async function findByContext(
  { view, names, clock }: FindParts,
  text: string,
  scope: SourceScope,
  add: Add,
): Promise<void> {
  const since = new Date(clock() - MONTH).toISOString();
  const contexts = contextFilters(text, namesInScope(names, scope).contexts);
  const pages = await Promise.all(
    contexts.map((context) => view.deliveries({ context, since, limit: PAGE, scope })),
  );
  const lines = pages.flatMap(({ deliveries }) => deliveries);
  for (const line of lines.toSorted(byNewest)) add(line, 'context');
}

/** Filters for `customer=acme`, or for `acme` as the value of each name. */
function contextFilters(text: string, names: readonly string[]): string[] {
  const given = names
    .filter((name) => text.startsWith(`${name}=`))
    .map((name) => ({ name, value: text.slice(name.length + 1) }));
  return [...given, ...names.map((name) => ({ name, value: text }))]
    .filter(({ value }) => isContextValue(value))
    .map(({ name, value }) => `${name}=${value}`);
}

/** Time from which on lines were searched for a part of a context (ISO 8601); null: all that the index has. */
async function findByPart(
  { view, clock }: FindParts,
  text: string,
  scope: SourceScope,
  add: Add,
  isFull: () => boolean,
): Promise<string | null> {
  const part = text.toLowerCase();
  for (const job of await view.jobsByPart({ part, limit: MAX_JOBS, scope })) {
    const { deliveries } = await view.deliveries({ job, limit: 1, without: 'accesses', scope });
    for (const line of deliveries) add(line, 'id');
  }
  const until = clock() + PATIENCE;
  let cursor: string | undefined;
  for (;;) {
    const page = await view.deliveries({ limit: PAGE, since: '1970-01-01', cursor, scope });
    for (const line of page.deliveries) {
      if (isAccess(line)) continue;
      if (Object.values(line.context ?? {}).some((value) => value.toLowerCase().includes(part)))
        add(line, 'context');
    }
    const last = page.deliveries.at(-1)?.receivedAt;
    if (page.nextCursor === null || last === undefined) return null;
    cursor = page.nextCursor;
    if (clock() > until || isFull()) return last;
  }
}
