import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { z } from 'zod';
import { createCommand as deliveries } from '../../../../../src/cli/deliveries.js';
import { createCommand as failures } from '../../../../../src/cli/failures.js';
import { createCommand as quarantine } from '../../../../../src/cli/quarantine.js';
import { createCommand as replay } from '../../../../../src/cli/replay.js';
import { createCommand as summary } from '../../../../../src/cli/summary.js';
import { lineQueryOf } from '../../../../../src/index/questions/find-deliveries.js';
import { API_ROUTES } from '../../../../support/admin-api-routes.js';
import { pageModule } from '../../../../support/dashboard/page-module.js';

const lists = API_ROUTES.filter(
  ({ method, query }) => method === 'GET' && Object.hasOwn(query ?? {}, 'limit'),
);

/** Of `POST /replays` they are the selector. */
function filtersOf(path: string): readonly string[] {
  const order = API_ROUTES.find((route) => `${route.method} ${route.path}` === `POST ${path}`)?.body;
  if (order instanceof z.ZodObject) return Object.keys((order.shape.selector as z.ZodObject).shape);
  const query = lists.find((route) => route.path === path)?.query ?? {};
  return Object.keys(query).filter((name) => name !== 'limit' && name !== 'cursor');
}

const { EVERY_NAME } = pageModule('lib/elements/filter-form');
const { deliveryFilters } = pageModule('views/deliveries-view');
const { summaryFilters } = pageModule('views/summary-view');
const { replayFilters } = pageModule('views/replays-view');
const { failureFilters } = pageModule('views/failures/failures-view');

interface Differing {
  /** Only in the API. */
  readonly api: readonly string[];
  /** Only here. */
  readonly own: readonly string[];
}

const COMMANDS: readonly (readonly [string, () => Command, Differing])[] = [
  ['/deliveries', deliveries, { api: ['without', 'only'], own: ['acts', 'onlyActs', 'csv'] }],
  ['/summary', summary, { api: ['buckets'], own: ['csv'] }],
  ['/failures', failures, { api: [], own: [] }],
  ['/quarantine', quarantine, { api: [], own: [] }],
  ['/replays', replay, { api: ['kind', 'jobs', 'events'], own: ['job', 'event', 'reason', 'dryRun'] }],
];

const FORMS: readonly (readonly [string, (names: object) => readonly { name: string }[], Differing])[] = [
  ['/deliveries', deliveryFilters, { api: ['without', 'only', 'contextOmitted'], own: ['acts'] }],
  ['/summary', summaryFilters, { api: ['buckets'], own: [] }],
  ['/failures', failureFilters, { api: [], own: [] }],
  // The form has fields of its own for a kind and for jobs; Failures has the causes.
  ['/replays', replayFilters, { api: ['kind', 'jobs', 'events', 'cause'], own: [] }],
];

describe('filters', () => {
  it.each(COMMANDS)('of %s are those of its command', (path, createCommand, { api, own }) => {
    const options = createCommand().options.map((option) => option.attributeName());
    const rest = options.filter((name) => !['limit', 'cursor', 'json'].includes(name));
    expect([...rest, ...api].sort()).toEqual([...filtersOf(path), ...own].sort());
  });

  it.each(FORMS)('of %s are those of its form on the page', (path, formOf, { api, own }) => {
    const fields = formOf(EVERY_NAME).map(({ name }) => name);
    expect([...fields, ...api].sort()).toEqual([...filtersOf(path), ...own].sort());
  });

  it('are those of lists with a command or a form, but for one that only programs filter', () => {
    const filtered = lists.map(({ path }) => path).filter((path) => filtersOf(path).length > 0);
    const compared = [...COMMANDS, ...FORMS].map(([path]) => path);
    expect(filtered.sort()).toEqual([...new Set([...compared, '/subscribers/:id/events'])].sort());
  });

  it('of Deliveries reach the index', () => {
    const read = ['since', 'until', 'without', 'only', 'context', 'contextOmitted'];
    const asTheyAre = filtersOf('/deliveries').filter((name) => !read.includes(name));
    expect(asTheyAre.length).toBeGreaterThan(3);
    const query = Object.fromEntries(asTheyAre.map((name) => [name, name]));
    expect(lineQueryOf(query)).toMatchObject(query);
  });
});
