import type { SourceScope } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import { type FilterNames, namesInScope } from '../../../index/questions/filter-names.js';
import type { FreshView } from '../../../index/questions/fresh-view.js';
import { instantInput, whole } from '../../../lib/text/read-input.js';
import { type HealthParts, PATIENCE, readHealth } from '../read-health.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { healthSchema, namesSchema, summarySchema } from './answers/health.js';
import type { SubscriberFigures } from './answers/subscribers.js';

export interface HealthRouteParts extends HealthParts {
  readonly view: LedgerView;
  readonly fresh: FreshView;
  readonly names: FilterNames;
  readonly subscriberNames: (scope: SourceScope) => readonly string[];
}

/** Listings cost money, and every open dashboard asks every few seconds. */
const LISTING_CACHE_MS = 2000;
const REPORTS_CACHE_MS = 10_000;

export function healthRoutes(parts: HealthRouteParts): AdminRoute[] {
  /** By scope. There are at most as many as tokens. */
  const subscribers = new Map<string, () => Promise<readonly SubscriberFigures[]>>();
  const health = {
    ...parts,
    subscribers(scope: SourceScope) {
      const key = JSON.stringify(scope && [...scope].sort());
      const read =
        subscribers.get(key) ?? cachedFor(LISTING_CACHE_MS, (signal) => parts.subscribers(scope, signal));
      subscribers.set(key, read);
      return read();
    },
    lastReconcile: cachedFor(REPORTS_CACHE_MS, parts.lastReconcile),
    lastVerify: cachedFor(REPORTS_CACHE_MS, parts.lastVerify),
  };
  return [
    adminRoute({
      method: 'GET',
      path: '/health',
      right: 'view',
      isUrgent: true,
      tag: 'Health',
      summary: 'Is all well?',
      answers: { 200: healthSchema },
      async handle({ access: { scope } }) {
        await parts.fresh();
        return ok(await readHealth(health, Date.now(), scope));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/names',
      right: 'view',
      isUrgent: true,
      tag: 'Health',
      summary:
        'Names that filters take: configured sources and regions, known statuses, outcomes and origins',
      answers: { 200: namesSchema },
      async handle({ access: { scope } }) {
        const subscribers = parts.subscriberNames(scope);
        return ok({ ...namesInScope(parts.names, scope), subscribers });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/summary',
      right: 'view',
      tag: 'Health',
      summary: 'Figures over a stretch of time up to years, for charts',
      query: {
        since: instantInput
          .optional()
          .describe('ISO 8601 with a zone, or a date; default: 24 hours before until'),
        until: instantInput.optional().describe('the same; default: now'),
        buckets: whole(1, 500)
          .default(48)
          .describe('number of equal stretches, at most: they are whole minutes, hours or days'),
      },
      answers: { 200: summarySchema },
      async handle({ query, access: { scope } }) {
        await parts.fresh();
        const { last: _, ...figures } = await parts.view.summary({ ...query, scope });
        return ok(figures);
      },
    }),
  ];
}

/**
 * Calls `load` at most once per `milliseconds`, never twice at once, and shares its result; a failure is not kept. Who shares it has
 * as much patience: its signal ends what takes longer.
 */
function cachedFor<T>(milliseconds: number, load: (signal: AbortSignal) => Promise<T>): () => Promise<T> {
  let cached: { readonly at: number; readonly value: Promise<T>; isLoading: boolean } | null = null;
  return () => {
    if (cached !== null && (cached.isLoading || Date.now() - cached.at < milliseconds)) return cached.value;
    const entry = { at: Date.now(), value: load(AbortSignal.timeout(PATIENCE)), isLoading: true };
    cached = entry;
    entry.value.then(
      () => {
        entry.isLoading = false;
      },
      () => {
        if (cached === entry) cached = null;
      },
    );
    return entry.value;
  };
}
