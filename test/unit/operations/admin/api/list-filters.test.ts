import { describe, expect, it } from '@jest/globals';
import { createCommand as deliveries } from '../../../../../src/cli/deliveries.js';
import { createCommand as failures } from '../../../../../src/cli/failures.js';
import { createCommand as quarantine } from '../../../../../src/cli/quarantine.js';
import { createCommand as summary } from '../../../../../src/cli/summary.js';
import { lineQueryOf } from '../../../../../src/index/questions/find-deliveries.js';
import { API_ROUTES } from '../../../../support/admin-api-routes.js';

function parametersOf(path: string): readonly string[] {
  const route = API_ROUTES.find((each) => each.method === 'GET' && each.path === path);
  return Object.keys(route?.query ?? {});
}

describe('filters', () => {
  it.each([
    ['/deliveries', deliveries, ['without', 'only', 'cursor', 'acts', 'onlyActs', 'csv', 'json']],
    ['/summary', summary, ['buckets', 'csv', 'json']],
    ['/failures', failures, ['json']],
    ['/quarantine', quarantine, ['region', 'reason', 'cursor', 'json']],
  ] as const)('of GET %s are those of its command', (path, createCommand, differing: readonly string[]) => {
    const ofCommand = createCommand().options.map((option) => option.attributeName());
    const without = (names: readonly string[]) => names.filter((name) => !differing.includes(name)).sort();
    expect(without(ofCommand)).toEqual(without(parametersOf(path)));
  });

  it('of Deliveries reach the index', () => {
    const read = ['limit', 'since', 'until', 'cursor', 'without', 'only', 'context', 'contextOmitted'];
    const asTheyAre = parametersOf('/deliveries').filter((name) => !read.includes(name));
    expect(asTheyAre.length).toBeGreaterThan(3);
    const query = Object.fromEntries(asTheyAre.map((name) => [name, name]));
    expect(lineQueryOf(query)).toMatchObject(query);
  });
});
