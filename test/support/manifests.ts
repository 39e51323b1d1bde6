import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/** A Kubernetes object as YAML gives it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are checked by the schemas, not by our types
  readonly [field: string]: any;
}

export const PROJECT = path.resolve(import.meta.dirname, '../..');
export const OVERLAYS = ['single-node', 'production'] as const;
/** What the production overlay leaves to the operator. */
export const COMPONENTS = ['eks-pod-identity', 'workload-identity', 'monitoring'] as const;
export const GATEWAYS = ['envoy', 'aws'] as const;

export function inProject(file: string): string {
  return path.join(PROJECT, file);
}

export function readProjectFile(file: string): string {
  return readFileSync(inProject(file), 'utf8');
}

/** All objects `kubectl apply -k` would send. */
export function renderOverlay(overlay: string): Manifest[] {
  return render(inProject(`k8s/overlays/${overlay}`));
}

export function renderGateway(implementation: string): Manifest[] {
  return render(inProject(`k8s/gateway/${implementation}`));
}

/** The production overlay after an operator removed the comment signs of its components. */
export function renderWithComponents(components: readonly string[]): Manifest[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'components-'));
  try {
    cpSync(inProject('k8s'), folder, { recursive: true });
    const overlay = path.join(folder, 'overlays/production');
    const file = path.join(overlay, 'kustomization.yaml');
    const wanted = ['components:', ...components.map((name) => `  - ../../components/${name}`)];
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const line of wanted) {
      const at = lines.indexOf(`# ${line}`);
      if (at < 0) throw new Error(`the overlay does not offer ${line}`);
      lines[at] = line;
    }
    writeFileSync(file, lines.join('\n'));
    return render(overlay);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function render(folder: string): Manifest[] {
  const rendered = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  return parseAllDocuments(rendered).map((document) => document.toJS() as Manifest);
}

export function readManifest(file: string): Manifest {
  return parse(readProjectFile(file)) as Manifest;
}

/** The one object of a kind, by name where there are several. */
export function pick(manifests: readonly Manifest[], kind: string, name?: RegExp): Manifest {
  const found = manifests.filter((each) => each.kind === kind && (!name || name.test(each.metadata.name)));
  const [only] = found;
  if (found.length !== 1 || only === undefined) throw new Error(`${found.length} objects of kind ${kind}`);
  return only;
}
