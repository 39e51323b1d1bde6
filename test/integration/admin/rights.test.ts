import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../support/admin-api-routes.js';
import { type AdminApi, adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const RIGHTS = ['view', 'read', 'repair', 'erase'];
const tokenOf = (name: string) => `token-of-the-${name}-0123456789`;

let service: RunningService;
const as = (name: string): AdminApi => adminApi(service, tokenOf(name));

beforeAll(async () => {
  const single = RIGHTS.map((right) => [right, { token: tokenOf(right), may: [right] }]);
  service = await startService({
    sources: { default: {} },
    admin: { tokens: { ...Object.fromEntries(single), everything: tokenOf('everything') } },
  });
});

afterAll(() => service.stop());

const operations = API_ROUTES.map(({ method, path, right }) => [method, path, right] as const);

/** Harmless: what it names is not here, or what it sends is not valid. */
function send(api: AdminApi, method: string, path: string) {
  const target = path.replace(':id', 'unknown').replace('*path', 'data');
  return api[method.toLowerCase() as 'get' | 'post' | 'delete'](target);
}

describe('a token', () => {
  it.each(operations)('needs for %s %s the right %s, and no other', async (method, path, right) => {
    const holders = [...RIGHTS, 'everything'];
    const answers = await Promise.all(holders.map((held) => send(as(held), method, path)));
    for (const [n, { status, body }] of answers.entries()) {
      const held = holders[n] ?? '';
      if (right === null || right === held || held === 'everything')
        expect([held, status]).not.toEqual([held, 403]);
      else {
        expect(body).toMatchObject({ status: 403, code: 'right-missing' });
        expect(body.detail).toContain(`the right ${right}, which ${held} does not have`);
      }
    }
  });

  it('is answered 403 before its body is read', async () => {
    const answer = await as('view').post('/replays').set(JSON_TYPE).send('{nonsense');
    expect(answer.body).toMatchObject({ status: 403, code: 'right-missing' });
  });

  it('may ask what it may do', async () => {
    expect((await as('read').get('/session')).body).toEqual({
      ...{ actor: 'read', may: ['read'], sources: null, canAskService: false },
    });
    expect((await as('everything').get('/session')).body).toMatchObject({ may: RIGHTS, sources: null });
  });
});
