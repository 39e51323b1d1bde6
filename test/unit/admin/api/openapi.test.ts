import { describe, expect, it } from '@jest/globals';
import { type AdminRouteParts, adminRoutes } from '../../../../src/admin/api/admin-routes.js';
import { safeContentType } from '../../../../src/admin/api/download.js';
import { describeApi } from '../../../../src/admin/api/openapi/description.js';
import { OPERATIONS } from '../../../../src/admin/api/openapi/operations.js';
import { SCHEMAS } from '../../../../src/admin/api/openapi/schemas.js';
import { undescribed } from '../../../support/described.js';

// Making the routes takes no more of the parts than the sources; handling takes the rest.
const routes = adminRoutes({ sources: new Map(), version: 'test' } as unknown as AdminRouteParts);

describe('the description of the admin API', () => {
  it('has every route, and no other', () => {
    const routed = routes.map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(routed.toSorted());
  });

  it('says which routes take a body', () => {
    for (const { method, path, takes = 'none' } of routes) {
      const body = OPERATIONS[`${method} ${path}`]?.body;
      expect([path, body === undefined ? 'none' : body === 'form' ? 'form' : 'json']).toEqual([path, takes]);
    }
  });

  it('refers only to schemas that are there, and uses all of them', () => {
    const text = JSON.stringify(describeApi('1.2.3'));
    const used = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name = '']) => name);
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(SCHEMAS).toSorted());
  });

  it.each([
    'application/json',
    'text/plain; charset=utf-8',
    'application/x-subrip',
    'audio/wav',
    'video/mp4',
    'text/html',
  ])('describes an artefact stored as %s', (stored) => {
    for (const status of [200, 206]) {
      const answer = { status, type: safeContentType(stored), json: null };
      expect(undescribed('GET', '/jobs/j1/artefacts/data', answer)).toBeNull();
      expect(undescribed('GET', '/jobs/j1/artefacts/data', { ...answer, type: 'image/png' })).toMatch(
        /image/,
      );
    }
  });

  it('names every parameter of a path', () => {
    const { paths } = describeApi('1.2.3') as {
      paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
    };
    for (const [path, operations] of Object.entries(paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters = [] } of Object.values(operations)) {
        expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(inPath);
      }
    }
  });
});
