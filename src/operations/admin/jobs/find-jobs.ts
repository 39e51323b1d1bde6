import { listJobObjects } from '../../../archive/artefacts.js';
import { readErasure } from '../../../archive/erasure/erasure.js';
import { isJobId } from '../../../domain/job.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import { type FilterNames, namesInScope } from '../../../index/questions/filter-names.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { JobMatches } from '../../answers/jobs.js';

interface FindParts {
  readonly store: ObjectStore;
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'matchJobs' | 'extent'>;
  readonly names: FilterNames;
}

/** Jobs that are listed. */
const MAX_JOBS = 20;
/** Fewest characters of a partial match: a shorter text would match too much. */
const MIN_PART = 3;

type Found = JobMatches['jobs'][number];

/**
 * Finds jobs whose id or context equals the text, which may be a value or `name=value`; else, from three characters on, jobs whose id or
 * context value contains it; newest first. An id is found at any age while anything of the job is stored, the rest within the index.
 */
export async function findJobs(parts: FindParts, text: string, scope: SourceScope): Promise<JobMatches> {
  const { store, view, names } = parts;
  const find = async (match: 'whole' | 'part') => {
    const { contexts } = namesInScope(names, scope);
    return matchesOf(await view.matchJobs({ text, match, names: contexts, limit: MAX_JOBS, scope }));
  };
  const index = view.extent();
  const whole = await find('whole');
  const stored = whole.some(({ by }) => by === 'id') ? null : await findStored(parts, text, scope);
  const exact = stored === null ? whole : [stored, ...whole];
  const isPart = exact.length === 0 && text.length >= MIN_PART;
  const found = (isPart ? await find('part') : exact).slice(0, MAX_JOBS);
  return {
    jobs: await newestFirst(store, found),
    more: found.length === MAX_JOBS,
    index,
  };
}

function matchesOf(found: Awaited<ReturnType<LedgerView['matchJobs']>>): Found[] {
  const jobs = new Map<string, Found>();
  for (const { by, line } of found) {
    const { jobId, context = null, receivedAt, outcome } = line;
    if (jobId !== null && !jobs.has(jobId)) jobs.set(jobId, { jobId, by, context, receivedAt, outcome });
  }
  return [...jobs.values()];
}

/** Sorts by the newest event. An erasure is read from its mark, because its line has no context and a search finds an older line. */
async function newestFirst(store: ObjectStore, jobs: readonly Found[]): Promise<Found[]> {
  const current = await Promise.all(
    jobs.map(async (job): Promise<Found> => {
      const mark = await readErasure(store, job.jobId);
      return mark === null
        ? job
        : { ...job, outcome: 'erased', receivedAt: mark.finishedAt ?? mark.erasedAt };
    }),
  );
  return current.toSorted((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));
}

/** Finds a job by its stored objects. */
async function findStored(
  { store, keyPrefixes }: FindParts,
  jobId: string,
  scope: SourceScope,
): Promise<Found | null> {
  if (!isJobId(jobId)) return null;
  for await (const { key, modifiedAt } of listJobObjects(store, keyPrefixes, jobId)) {
    const info = scope === null ? null : await store.head(key);
    if (scope !== null && !isInScope(scope, info?.metadata.source)) continue;
    return { jobId, by: 'id', context: null, receivedAt: modifiedAt.toISOString(), outcome: 'stored' };
  }
  return null;
}
