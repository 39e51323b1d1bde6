import { beforeEach, describe, expect, it } from '@jest/globals';
import type { CredentialCheck } from '../../../../../src/operations/admin/access/access-ledger.js';
import type { AdminServices } from '../../../../../src/operations/admin/admin-services.js';
import type { AdminRequest, AdminRoute } from '../../../../../src/operations/admin/api/admin-route.js';
import { explainRoutes } from '../../../../../src/operations/admin/api/explain-routes.js';
import { createSources } from '../../../../../src/receive/access/sources.js';
import { StoreError } from '../../../../../src/store/object-store.js';

const SECRET = 'a-secret-of-sixteen';
const egress = { eu1: [], eu2: [], us1: [], us2: [], au1: [] };
const settings = { allow: ['10.0.0.0/8'], allowMode: 'enforce' as const, contents: [], context: [] };
const sources = createSources(
  {
    guarded: {
      ...settings,
      ...{ maxBytes: 1000, keyPrefix: '' },
      credentials: { main: { headers: [`X-Token: ${SECRET}`], notBefore: null, expires: null } },
    },
  },
  egress,
  [],
);

let now: number;
let checks: CredentialCheck[];
let ledgerFails: boolean;
let route: AdminRoute;

beforeEach(() => {
  [now, checks, ledgerFails] = [0, [], false];
  const accessLedger = {
    async credentialChecked(check: CredentialCheck) {
      if (ledgerFails) throw new StoreError('create', 'away');
      checks.push(check);
    },
  };
  const [only] = explainRoutes({ sources, accessLedger, clock: () => now } as unknown as AdminServices);
  if (only === undefined) throw new Error('no route');
  route = only;
});

function explain(headers: object, { actor = 'desk', address = '10.0.0.1' } = {}) {
  const access = { actor, may: new Set(['view']), scope: null };
  const body = { address, headers };
  const request = { params: {}, query: new URLSearchParams(), body, access, actor, peer: '192.0.2.1' };
  return route.handle(request as unknown as AdminRequest);
}

describe('an explanation with a credential', () => {
  it('is recorded with token, address, source and result before it is answered', async () => {
    await explain({ 'X-TOKEN': SECRET });
    await explain({ 'x-token': 'wrong' });
    expect(checks).toMatchObject([
      { access: { actor: 'desk' }, peer: '192.0.2.1', source: 'guarded', passed: true },
      { passed: false },
    ]);
    ledgerFails = true;
    await expect(explain({ 'x-token': SECRET })).rejects.toThrow(StoreError);
  });

  it('is recorded also where the address is refused, because the credential is reported as well', async () => {
    await explain({ 'x-token': SECRET }, { address: '192.0.2.9' });
    expect(checks).toMatchObject([{ passed: true }]);
  });

  it('is limited to ten a minute for each token', async () => {
    for (let guess = 0; guess < 10; guess += 1) await explain({ 'x-token': `guess ${guess}` });
    const tooMany = { code: 'too-many-attempts', status: 429 };
    await expect(explain({ 'x-token': SECRET })).rejects.toMatchObject(tooMany);
    expect(checks).toHaveLength(10);
    await explain({ 'x-token': SECRET }, { actor: 'other' });
    now = 59_999;
    await expect(explain({ 'x-token': SECRET })).rejects.toMatchObject(tooMany);
    now = 60_000;
    expect(await explain({ 'x-token': SECRET })).toMatchObject({ body: { credential: 'main' } });
  });

  it('does not concern requests without a credential', async () => {
    for (let n = 0; n < 30; n += 1) await explain({ 'x-forwarded-for': `192.0.2.${n}` });
    expect(checks).toEqual([]);
  });
});
