import { causeOf, type FailureCause, failureCauses } from '../domain/failure-causes.js';
import type { FailureQuery } from '../ledger/read/failures/open-failures.js';
import type { FailureLine, FailurePage, LedgerView } from '../ledger/read/ledger-view.js';

type View = Pick<LedgerView, 'openFailures'>;

/** Failures that are grouped: those that the service deletes first. A list of causes of more jobs says what is common anyway. */
const MAX_GROUPED = 20_000;

export interface FailureFilters
  extends Pick<FailureQuery, 'outcome' | 'source' | 'region' | 'since' | 'scope'> {
  /** Only failures with this cause. */
  readonly cause?: string | undefined;
}

/** All open failures that match. */
export async function failuresOf(view: View, { cause, ...filters }: FailureFilters): Promise<FailureLine[]> {
  const { failures } = await view.openFailures({ ...filters, limit: MAX_GROUPED });
  return failures.filter((line) => cause === undefined || causeOf(line) === cause);
}

/** As `GET /failures` answers it. */
export interface FailuresWithCauses extends FailurePage {
  readonly causes: readonly FailureCause[];
}

/** A page of open failures with the causes of all that match. */
export async function failuresByCause(
  view: View,
  filters: FailureFilters,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<FailuresWithCauses> {
  const { cause, ...others } = filters;
  const causes = failureCauses(await failuresOf(view, others));
  if (cause === undefined) return { ...(await view.openFailures({ ...others, ...page })), causes };
  const counts = new Map<string, number>();
  for (const { code, outcome, count } of causes)
    if (code === cause) counts.set(outcome, (counts.get(outcome) ?? 0) + count);
  return { ...(await pageOfCause(view, cause, others, page)), counts: Object.fromEntries(counts), causes };
}

/** Reads page by page, so that the cursor of the last whole page goes on where this one ends. */
async function pageOfCause(
  view: View,
  cause: string,
  filters: Omit<FailureFilters, 'cause'>,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<FailurePage> {
  const failures: FailureLine[] = [];
  let from = cursor;
  for (;;) {
    const page = await view.openFailures({ ...filters, limit, cursor: from });
    const matching = page.failures.filter((line) => causeOf(line) === cause);
    if (failures.length + matching.length > limit) return { ...page, failures, nextCursor: from ?? null };
    failures.push(...matching);
    if (page.nextCursor === null || failures.length === limit) return { ...page, failures };
    from = page.nextCursor;
  }
}

/** Jobs of these failures, each once. */
export function jobsOf(failures: readonly FailureLine[]): string[] {
  return [...new Set(failures.flatMap(({ jobId }) => jobId ?? []))];
}
