import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  COMPONENTS,
  GATEWAYS,
  inProject,
  type Manifest,
  OVERLAYS,
  readManifest,
  renderGateway,
  renderOverlay,
  renderWithComponents,
} from '../support/manifests.js';

/** Groups whose schemas no npm package has: gateway.test.ts compares their values with the receiver's settings. */
const UNPUBLISHED = /^gateway\.(envoyproxy\.io|k8s\.aws)\//;

const rendered: [string, Manifest[]][] = [
  ...OVERLAYS.map((overlay): [string, Manifest[]] => [`overlays/${overlay}`, renderOverlay(overlay)]),
  ['overlays/production with all components', renderWithComponents(COMPONENTS)],
  ...GATEWAYS.map((name): [string, Manifest[]] => [`gateway/${name}`, renderGateway(name)]),
  ['secret.example.yaml', [readManifest('k8s/secret.example.yaml')]],
];
const CASES = rendered.map(([name, manifests]): [string, Manifest[]] => [
  name,
  manifests.filter(({ apiVersion }) => !UNPUBLISHED.test(apiVersion)),
]);

/** Where the models of an API group are: the Kubernetes API's own, or those of the custom resources in use. */
function moduleOf({ apiVersion }: Manifest): string {
  if (apiVersion.startsWith('monitoring.coreos.com/'))
    return `@kubernetes-models/prometheus-operator/${apiVersion}`;
  if (apiVersion.startsWith('gateway.networking.k8s.io/'))
    return `@kubernetes-models/gateway-api/${apiVersion}`;
  return `kubernetes-models/${apiVersion}`;
}

describe.each(CASES)('k8s/%s', (_name, manifests) => {
  it.each(manifests.map((each): [string, Manifest] => [`${each.kind} ${each.metadata.name}`, each]))(
    '%s is valid by its schema',
    async (_label, manifest) => {
      const models = (await import(moduleOf(manifest))) as Record<
        string,
        new (
          data: Manifest,
        ) => { validate(): void }
      >;
      const Model = models[manifest.kind];
      if (Model === undefined) throw new Error(`no schema for ${manifest.apiVersion} ${manifest.kind}`);
      expect(() => new Model(manifest).validate()).not.toThrow();
    },
  );

  // The schemas let unknown fields pass, as the API server does with a warning. Types do not.
  it('has no field that the API does not know', () => {
    expect(typeFaults(manifests)).toBe('');
  });
});

it.each(OVERLAYS)('overlays/%s needs no custom resource', (overlay) => {
  const groups = renderOverlay(overlay).map(({ apiVersion }) => apiVersion.split('/')[0]);
  expect(groups.filter((group) => group?.includes('.') && !group.endsWith('.k8s.io'))).toEqual([]);
});

it('notices a field that the API does not know', () => {
  const [first] = renderOverlay('production').filter((each) => each.kind === 'Deployment');
  if (first === undefined) throw new Error('no Deployment');
  const misspelt = { ...first, spec: { ...first.spec, replicaz: 3 } };
  expect(typeFaults([misspelt])).toContain('replicaz');
});

/** What the TypeScript compiler says about the objects as literals of their API types. */
function typeFaults(manifests: readonly Manifest[]): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'manifest-types-'));
  try {
    symlinkSync(inProject('node_modules'), path.join(folder, 'node_modules'));
    const source = manifests.map(
      (manifest, index) =>
        `import type { I${manifest.kind} as T${index} } from '${moduleOf(manifest)}';\n` +
        `export const object${index}: T${index} = ${JSON.stringify(manifest, null, 2)};\n`,
    );
    writeFileSync(path.join(folder, 'objects.mts'), source.join('\n'));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    execFileSync(
      process.execPath,
      [inProject('node_modules/typescript/bin/tsc'), '--ignoreConfig', ...flags, 'objects.mts'],
      {
        cwd: folder,
        encoding: 'utf8',
        stdio: 'pipe',
      },
    );
    return '';
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
