import { describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../../../support/admin-api-routes.js';

/** The right that each operation needs. A new one is decided about here. */
const RIGHTS: Readonly<Record<string, string | null>> = {
  'GET /session': null,
  'GET /openapi.json': null,
  'GET /health': 'view',
  'GET /names': 'view',
  'GET /summary': 'view',
  'GET /deliveries': 'view',
  'GET /failures': 'view',
  'GET /refusals': 'view',
  'GET /refusals/counts': 'view',
  'GET /jobs/:id': 'view',
  'GET /quarantine': 'view',
  'GET /subscribers': 'view',
  'GET /subscribers/:id/dead': 'view',
  'GET /subscribers/:id/events': 'view',
  'GET /replays': 'view',
  'GET /replays/:id': 'view',
  'POST /explain': 'view',
  'GET /jobs/:id/artefacts/*path': 'read',
  'POST /jobs/:id/ticket': 'read',
  'GET /quarantine/:id': 'read',
  'GET /quarantine/:id/body': 'read',
  'POST /jobs/:id/refetch': 'repair',
  'POST /jobs/:id/artefacts': 'repair',
  'GET /jobs': 'view',
  'POST /jobs/:id/acknowledge': 'repair',
  'POST /jobs/:id/choose': 'repair',
  'POST /failures/acknowledge': 'repair',
  'POST /quarantine/:id/release': 'repair',
  'POST /quarantine/:id/dismiss': 'repair',
  'POST /subscribers/:id/test': 'repair',
  'GET /reconcile': 'view',
  'POST /reconcile': 'repair',
  'POST /replays': 'repair',
  'DELETE /replays/:id': 'repair',
  'DELETE /jobs/:id': 'erase',
};

const declared = Object.fromEntries(
  API_ROUTES.map(({ method, path: at, right }) => [`${method} ${at}`, right]),
);

describe('the rights that operations need', () => {
  it('are decided for each of them', () => {
    expect(declared).toEqual(RIGHTS);
  });
});
