import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  area,
  type Import,
  importsOf,
  isOwn,
  readRoomPage,
  readSources,
} from '../../support/project/source-imports.js';

/** The import rules of the READMEs in src, checked against every import statement of it. */

/** Rooms, from below, that consist of folders alone: each of these imports only those before it. */
const INNER_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  lib: ['time', 'text', 'memory', 'http', 'outbound'],
  recovery: ['retention', 'reconcile', 'verify'],
  operations: ['issues', 'answers', 'health', 'actions', 'admin'],
};

/** More arrows are a picture that nobody keeps in mind. */
const MOST_ARROWS = 75;

const text = readSources();
const files = [...text.keys()];
const imports = importsOf(text);
const rooms = [...new Set(files.map(area))].filter((name) => name !== 'main').sort();
const mayImport = new Map(rooms.map((room) => [room, permissionsOf(room)]));

/** The rooms that the README of a room permits. */
function permissionsOf(room: string): string[] {
  const [, list = ''] = /^May import: ([^.]*)\./m.exec(readRoomPage(room)) ?? [];
  return [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

function isAllowed({ from, to }: Import): boolean {
  const outer = area(from);
  const inner = area(to);
  if (outer === 'main') return inner === 'cli';
  if (outer !== inner) return mayImport.get(outer)?.includes(inner) ?? false;
  const order = INNER_FOLDERS[outer];
  if (order === undefined) return true;
  const [above, below] = [from, to].map((file) => order.indexOf(file.split('/')[1] ?? ''));
  return above !== undefined && below !== undefined && below >= 0 && below <= above;
}

const packageName = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** What users of the package import: the only places that gather exports. */
const PUBLIC_ENTRIES = ['speech/speech.ts', 'speech/realtime/realtime.ts', 'simulator/simulator.ts'];

/** Offenders as text, so that a failing test names them. */
const shown = (offenders: readonly Import[]) => offenders.map(({ from, to }) => `${from} -> ${to}`);

describe('imports', () => {
  it('are found at all', () => {
    expect(imports.length).toBeGreaterThan(files.length);
    expect(shown(imports)).toContain('config/config.ts -> config/config-error.ts');
    expect(imports.filter(isOwn).every(({ to }) => text.has(to))).toBe(true);
  });

  it('point one way', () => {
    const offenders = imports.filter(isOwn).filter((each) => !isAllowed(each));
    expect(shown(offenders)).toEqual([]);
  });

  it('use every permission of a README, and are few enough to draw', () => {
    const used = new Set(imports.filter(isOwn).map(({ from, to }) => `${area(from)} -> ${area(to)}`));
    const permitted = [...mayImport].flatMap(([outer, inner]) => inner.map((each) => `${outer} -> ${each}`));
    expect(permitted.filter((each) => !used.has(each))).toEqual([]);
    expect(permitted.length).toBeLessThanOrEqual(MOST_ARROWS);
  });

  it("of the simulator are the service's wire format and nothing of the receiver", () => {
    const offenders = imports.filter(
      ({ from, to }) =>
        area(from) === 'simulator' &&
        /^(speech|domain)\//.test(to) &&
        !/^speech\/(realtime\/)?wire|^domain\/kinds\.ts$/.test(to),
    );
    expect(shown(offenders)).toEqual([]);
  });

  it('of the tools know of the product only its problems', () => {
    const offenders = imports.filter(({ from, to }) => area(from) === 'lib' && area(to) === 'domain');
    const known = ['domain/problem.ts', 'domain/reasons.ts', 'domain/delivery.ts'];
    expect(shown(offenders.filter(({ to }) => !known.includes(to)))).toEqual([]);
  });

  it('make no cycles', () => {
    const next = new Map<string, string[]>();
    // Type imports count: files that need each other's types cannot be read one after the other.
    for (const { from, to } of imports.filter(isOwn)) {
      next.set(from, [...(next.get(from) ?? []), to]);
    }
    const cycles: string[] = [];
    const finished = new Set<string>();
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
      if (finished.has(file) || trail.includes(file)) return;
      for (const target of next.get(file) ?? []) visit(target, [...trail, file]);
      finished.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('take Express only into routers and apps, and multer only into the import form', () => {
    // A type in a signature pulls in nothing.
    const from = (...packages: string[]) =>
      imports.filter(({ to, typeOnly }) => !typeOnly && packages.includes(packageName(to)));
    const elsewhere = from('express', 'helmet').filter(
      ({ from: file }) => !/(^|\/|-)(router|routes|app)\.ts$/.test(file),
    );
    expect(shown(elsewhere)).toEqual([]);
    expect([...new Set(from('multer').map(({ from: file }) => file))]).toEqual([
      'operations/admin/api/content/import-form.ts',
    ]);
  });

  it("take AWS's SDK only into store/s3", () => {
    const aws = imports.filter(({ to }) => /^@(aws-sdk|smithy|aws-crypto)\//.test(to));
    expect(shown(aws.filter(({ from }) => !from.startsWith('store/s3/')))).toEqual([]);
  });
});

describe('files', () => {
  it('read the environment only in the configuration', () => {
    const readers = files.filter((file) =>
      /\bprocess\s*\.\s*env\b|\benv\s*\}\s*=\s*process\b/.test(text.get(file) ?? ''),
    );
    expect(readers.filter((file) => area(file) !== 'config')).toEqual([]);
  });

  it('are no barrels: nothing is exported from elsewhere', () => {
    const barrels = imports.filter(
      ({ from, to }) =>
        !PUBLIC_ENTRIES.includes(from) &&
        new RegExp(
          `^\\s*export\\s[^;'"]*from\\s*['"][^'"]*${path.posix.basename(to, '.ts')}(\\.js)?['"]`,
          'm',
        ).test(text.get(from) ?? ''),
    );
    expect(shown(barrels)).toEqual([]);
    expect(files.filter((file) => path.posix.basename(file) === 'index.ts')).toEqual([]);
  });
});
