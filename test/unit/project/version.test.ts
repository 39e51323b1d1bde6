import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const textOf = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const { version, dependencies, devDependencies, allowScripts } = JSON.parse(textOf('package.json')) as {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};

it("the changelog's newest release is the version of package.json, below what is unreleased", () => {
  const headings = [...textOf('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? '');
  const [newest, ...older] = headings[0] === '[Unreleased]' ? headings.slice(1) : headings;
  const release = /^\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/;
  expect(release.exec(newest ?? '')?.[1]).toBe(version);
  expect(older.filter((heading) => !release.test(heading))).toEqual([]);
});

it('the image, its manifests and the lock file carry the version of package.json', () => {
  expect(/^ARG VERSION=(.*)$/m.exec(textOf('Dockerfile'))?.[1]).toBe(version);
  for (const overlay of ['production', 'single-node']) {
    expect(/newTag: (.*)$/m.exec(textOf(`k8s/overlays/${overlay}/kustomization.yaml`))?.[1]).toBe(version);
  }
  expect((JSON.parse(textOf('package-lock.json')) as { version: string }).version).toBe(version);
});

it('.nvmrc, the release and the image have the line of Node that npm scripts run on', () => {
  const [line] = String(devDependencies.node).split('.');
  expect(textOf('.nvmrc').trim()).toBe(line);
  expect(textOf('Dockerfile')).toContain(`/node:${line}-`);
  const releases = [...textOf('.github/workflows/release.yml').matchAll(/node-version: (.*)$/gm)];
  expect(new Set(releases.map(([, version]) => version))).toEqual(new Set([line]));
});

it('who installs the package gets no Node with it, and npm runs the install script of Node alone', () => {
  expect(dependencies).not.toHaveProperty('node');
  expect(Object.entries(allowScripts).flatMap(([name, runs]) => (runs ? name : []))).toEqual(['node']);
});

it('each install script of the lock file is approved or denied in package.json: npm ci warns otherwise', () => {
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: true; optional?: true }>;
  };
  const scripted = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? path.replace(/^.*node_modules\//, '') : [],
  );
  expect(scripted.filter((name) => !(name in allowScripts))).toEqual([]);
});

it('the lock file has every package that another one names, also for other platforms: npm ci rejects it otherwise', () => {
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')));
  const named = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}));
  expect(named.filter((name) => !locked.has(name))).toEqual([]);
});
