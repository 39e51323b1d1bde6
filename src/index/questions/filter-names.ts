import { LEDGER_ORIGINS, LEDGER_OUTCOMES } from '../../domain/delivery.js';
import { KNOWN_CALLBACK_STATUSES } from '../../domain/job.js';
import {
  NAMED_FILTER_NAMES,
  NAMED_FILTERS,
  type NamedFilter,
  type NamedFilters,
} from '../../domain/line-filters.js';
import { Problem } from '../../domain/problem.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { contextOfGroup } from '../../domain/summary-groups.js';
import { parseContextFilter } from '../../ledger/context-filter.js';
import type { LedgerView } from '../ledger-view.js';

/** Filters whose values are names from a known set. */
export interface NameFilters extends NamedFilters {
  readonly context?: string | undefined;
  /** Group of figures, which may be a context name. */
  readonly by?: string | undefined;
}

type NamesByFilter = Readonly<Record<(typeof NAMED_FILTERS)[NamedFilter]['names'], readonly string[]>>;

/** Filter values that a client can choose from. */
export interface OfferedNames extends NamesByFilter {
  /** Context names that sources admit. */
  readonly contexts: readonly string[];
}

/** Filter values of all sources. */
export interface FilterNames extends NamesByFilter {
  /** Context names by source. */
  readonly contexts: ReadonlyMap<string, readonly string[]>;
}

/** @param sources, regions and names of each source's context as configured */
export function filterNames(
  sources: Iterable<string>,
  regions: Iterable<string>,
  contexts: FilterNames['contexts'] = new Map(),
): FilterNames {
  return {
    sources: [...sources].sort(),
    regions: [...regions].sort(),
    statuses: KNOWN_CALLBACK_STATUSES,
    outcomes: LEDGER_OUTCOMES,
    origins: LEDGER_ORIGINS,
    contexts,
  };
}

/** The names that exist for a client with some sources. */
export function namesInScope(names: FilterNames, scope: SourceScope): OfferedNames {
  const contexts = [...names.contexts].flatMap(([source, own]) => (isInScope(scope, source) ? own : []));
  return {
    ...names,
    sources: names.sources.filter((source) => isInScope(scope, source)),
    contexts: [...new Set(contexts)].sort(),
  };
}

/**
 * Rejects a filter that can match nothing: a misspelt name would show an empty list, which reads as good news. The sets
 * are open, so that every name in the ledger is known as well: a source that was removed, a new status. Rejects with
 * `Problem` `request-invalid` that lists the known names.
 */
export async function rejectUnknownNames(
  filters: NameFilters,
  known: FilterNames,
  view: Pick<LedgerView, 'knowsName'>,
  scope: SourceScope = null,
): Promise<void> {
  const existing = namesInScope(known, scope);
  for (const field of NAMED_FILTER_NAMES) {
    const { names } = NAMED_FILTERS[field];
    const value = filters[field];
    if (value === undefined || existing[names].includes(value)) continue;
    if (await view.knowsName(field, value, scope)) continue;
    throw new Problem(
      'request-invalid',
      `${field}: ${JSON.stringify(value.slice(0, 64))} is not known; known are ${existing[names].join(', ')}.`,
    );
  }
  const { contexts } = existing;
  const filtered =
    filters.context === undefined
      ? null
      : parseContextFilter(filters.context, contexts.length === 0 ? undefined : contexts).name;
  for (const name of [filtered, contextOfGroup(filters.by ?? '')]) {
    if (name === null || contexts.includes(name) || (await view.knowsName('context', name, scope))) continue;
    const admitted = contexts.length === 0 ? 'no source admits any' : `sources admit ${contexts.join(', ')}`;
    throw new Problem(
      'request-invalid',
      `context: ${JSON.stringify(name.slice(0, 64))} is not known; ${admitted} (sources.<name>.context).`,
    );
  }
}
