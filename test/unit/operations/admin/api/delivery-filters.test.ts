import { expect, it } from '@jest/globals';
import { createCommand } from '../../../../../src/cli/deliveries.js';
import { lineQueryOf } from '../../../../../src/index/questions/find-deliveries.js';
import { deliveriesRoutes } from '../../../../../src/operations/admin/api/deliveries-routes.js';

const route = deliveriesRoutes({} as never).find(({ path }) => path === '/deliveries');
const ofApi = Object.keys(route?.query ?? {});

it('of the command are those of the API', () => {
  const ofCommand = createCommand().options.map((option) => option.attributeName());
  const differing = ['without', 'only', 'cursor', 'acts', 'onlyActs', 'csv', 'json'];
  const without = (names: readonly string[]) => names.filter((name) => !differing.includes(name)).sort();
  expect(without(ofCommand)).toEqual(without(ofApi));
});

it('reach the index', () => {
  const read = ['limit', 'since', 'until', 'cursor', 'without', 'only', 'context', 'contextOmitted'];
  const asTheyAre = ofApi.filter((name) => !read.includes(name));
  expect(asTheyAre.length).toBeGreaterThan(3);
  const query = Object.fromEntries(asTheyAre.map((name) => [name, name]));
  expect(lineQueryOf(query)).toMatchObject(query);
});
