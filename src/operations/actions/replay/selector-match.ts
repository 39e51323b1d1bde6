import type { DeliveryContext } from '../../../domain/context.js';
import { isInScope } from '../../../domain/rights.js';
import { parseContextFilter } from '../../../ledger/context-filter.js';
import { type ReplaySelector, scopeOf } from './replay-state.js';

/** Fields that the filters of a selector compare. */
export interface Selectable {
  readonly jobId: string;
  /** ISO 8601. */
  readonly time: string;
  readonly source: string | null;
  readonly region: string | null;
  readonly status: string | null;
  readonly outcome: string;
  readonly context: DeliveryContext | null;
}

const EQUAL = ['source', 'region', 'status', 'outcome'] as const;

/** Returns whether a body or an event is selected, by the same filters as ledger lines. */
export function selectorMatch(selector: ReplaySelector): (found: Selectable) => boolean {
  const { jobs, since, until } = selector;
  const named = jobs && new Set(jobs);
  const scope = scopeOf(selector);
  const wanted = selector.context === undefined ? null : parseContextFilter(selector.context);
  return (found) => {
    const at = Date.parse(found.time);
    return (
      (named === undefined || named.has(found.jobId)) &&
      (since === undefined || at >= Date.parse(since)) &&
      (until === undefined || at < Date.parse(until)) &&
      EQUAL.every((name) => selector[name] === undefined || selector[name] === found[name]) &&
      (wanted === null || found.context?.[wanted.name] === wanted.value) &&
      isInScope(scope, found.source)
    );
  };
}
