import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type AdminRouteParts, adminRoutes } from '../../../../../src/operations/admin/api/admin-routes.js';

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
  'GET /subscribers/:id/waiting': 'view',
  'GET /replays': 'view',
  'GET /replays/:id': 'view',
  'GET /replays/:id/failures': 'view',
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
  'POST /erasures': 'erase',
};

const routes = adminRoutes({
  sources: new Map(),
  version: 'test',
  health: { facts: {} },
} as unknown as AdminRouteParts);
const declared = Object.fromEntries(routes.map(({ method, path: at, right }) => [`${method} ${at}`, right]));

describe('the rights that operations need', () => {
  it('are decided for each of them', () => {
    expect(declared).toEqual(RIGHTS);
  });
});

const PAGE = 'src/operations/dashboard';
const modules = new Map(
  readdirSync(PAGE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.startsWith('vendor/'))
    .map((file) => [file, readFileSync(path.join(PAGE, file), 'utf8')]),
);

/** Operations other than GET that a module of the page sends. */
function* sentBy(text: string): Generator<string> {
  for (const [, verb, target = ''] of text.matchAll(/\b(post|remove)\(\s*[`'](\/[^`']+)[`']/g)) {
    yield `${verb === 'post' ? 'POST' : 'DELETE'} ${target.replaceAll(/\$\{[^}]*\}/g, ':id')}`;
  }
}

function importersOf(file: string): string[] {
  return [...modules].flatMap(([other, text]) => {
    const imported = [...text.matchAll(/^import .*? from '([^']+)'/gms)].map(([, target = '']) =>
      path.join(path.dirname(other), target),
    );
    return imported.includes(file) ? [text] : [];
  });
}

describe('the page', () => {
  const sent = [...modules].flatMap(([file, text]) =>
    [...sentBy(text)].map((operation) => [operation, file]),
  );

  it('sends only operations whose right is decided', () => {
    expect(
      sent.map(([operation]) => operation).filter((operation) => !(String(operation) in RIGHTS)),
    ).toEqual([]);
    expect(sent.length).toBeGreaterThan(8);
  });

  it.each(sent.filter(([operation = '']) => RIGHTS[operation] !== 'view'))(
    'offers %s only with its right (%s)',
    (operation = '', file = '') => {
      const asked = `may('${RIGHTS[operation]}')`;
      const asks =
        modules.get(file)?.includes(asked) || importersOf(file).some((text) => text.includes(asked));
      expect(asks).toBe(true);
    },
  );
});
