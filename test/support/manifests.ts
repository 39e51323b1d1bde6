import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

export function inProject(file: string): string {
  return path.join(PROJECT, file);
}

export function readProjectFile(file: string): string {
  return readFileSync(inProject(file), 'utf8');
}

/** All objects `kubectl apply -k` would send. */
export function renderOverlay(overlay: string): Manifest[] {
  const rendered = execFileSync('kubectl', ['kustomize', inProject(`k8s/overlays/${overlay}`)], {
    encoding: 'utf8',
  });
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
