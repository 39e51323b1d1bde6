import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { area, type Import, importsOf, isOwn, readSources } from '../../support/project/source-imports.js';

/** The import rules of docs/architecture.md, checked against every import statement of src. */

/**
 * Which folders each folder may import, itself aside, from below: nouns and text, then memory, stores and clients, then the
 * archive, then receiving and recovery, which do not meet, then what operators repair and see.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  time: [],
  outbound: [],
  content: ['domain'],
  memory: ['domain'],
  // The simulator may know the service's wire format, and nothing of the receiver.
  simulator: ['domain', 'time', 'text'],
  http: ['domain', 'memory'],
  text: ['domain', 'time'],
  store: ['time', 'outbound', 'text'],
  config: ['domain', 'time', 'outbound', 'text'],
  observe: ['domain', 'time', 'store'],
  speech: ['domain', 'time', 'outbound', 'text'],
  ledger: ['domain', 'time', 'text', 'store'],
  index: ['domain', 'time', 'text', 'store', 'ledger'],
  archive: ['domain', 'time', 'memory', 'text', 'store', 'ledger'],
  capture: ['domain', 'store', 'speech', 'ledger', 'archive'],
  retention: ['domain', 'time', 'text', 'store', 'ledger', 'archive'],
  subscribers: ['domain', 'time', 'outbound', 'text', 'store', 'ledger', 'archive'],
  doctor: [
    'domain',
    'time',
    'outbound',
    'text',
    'store',
    'observe',
    'speech',
    'ledger',
    'archive',
    'health',
    'subscribers',
  ],
  reconcile: [
    'domain',
    'time',
    'content',
    'store',
    'observe',
    'speech',
    'ledger',
    'index',
    'archive',
    'retention',
  ],
  verify: ['domain', 'store', 'ledger', 'archive', 'retention', 'reconcile'],
  health: ['domain', 'time', 'text', 'store', 'observe', 'index', 'archive', 'reconcile', 'verify'],
  receive: ['domain', 'time', 'content', 'memory', 'http', 'text', 'store', 'observe', 'ledger', 'archive'],
  operator: [
    'domain',
    'time',
    'content',
    'text',
    'store',
    'speech',
    'ledger',
    'index',
    'archive',
    'subscribers',
    'reconcile',
    'receive',
  ],
  admin: [
    'domain',
    'time',
    'http',
    'text',
    'store',
    'observe',
    'ledger',
    'index',
    'archive',
    'retention',
    'subscribers',
    'reconcile',
    'health',
    'receive',
    'operator',
  ],
};

/** The top, from below: what builds everything, the commands, the entry. They may import all but what is above them. */
const TOP = ['app', 'cli', 'main'];

const text = readSources();
const files = [...text.keys()];
const imports = importsOf(text);

function isAllowed({ from, to }: Import): boolean {
  const [outer, inner] = [area(from), area(to)];
  if (outer === inner) return true;
  if (TOP.includes(outer)) return TOP.indexOf(inner) < TOP.indexOf(outer);
  const wireOnly = /^speech\/(realtime\/)?wire/.test(to) && ['simulator', 'config'].includes(outer);
  const kindsOnly = outer === 'simulator' && to === 'domain/kinds.ts';
  return wireOnly || kindsOnly || (MAY_IMPORT[outer] ?? []).includes(inner);
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

  it('use every permission of the table', () => {
    const used = new Set(imports.filter(isOwn).map(({ from, to }) => `${area(from)} -> ${area(to)}`));
    const permitted = Object.entries(MAY_IMPORT).flatMap(([outer, inner]) =>
      inner.map((each) => `${outer} -> ${each}`),
    );
    expect(permitted.filter((each) => !used.has(each))).toEqual([]);
  });

  it('know every folder', () => {
    const known = [...Object.keys(MAY_IMPORT), ...TOP];
    expect([...new Set(files.map(area))].filter((name) => !known.includes(name))).toEqual([]);
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
      'admin/api/content/import-form.ts',
    ]);
  });

  it("take AWS's SDK only into store/s3", () => {
    const aws = imports.filter(({ to }) => /^@(aws-sdk|smithy|aws-crypto)\//.test(to));
    expect(shown(aws.filter(({ from }) => !from.startsWith('store/s3/')))).toEqual([]);
  });

  it('name Node modules with their prefix', () => {
    const bare = imports.filter(
      (each) =>
        !isOwn(each) && /^(fs|path|os|http|https|net|crypto|stream|url|util|events)(\/|$)/.test(each.to),
    );
    expect(shown(bare)).toEqual([]);
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

  it('have no default exports and no utils', () => {
    expect(files.filter((file) => /^\s*export\s+default\b/m.test(text.get(file) ?? ''))).toEqual([]);
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/.test(file))).toEqual([]);
  });

  it('are named in kebab-case', () => {
    expect(
      files.filter((file) => !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(file)),
    ).toEqual([]);
  });
});
