import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Config, type Needs, parseConfig, settingsFor } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/load-settings.js';
import { type Manifest, pick, readManifest } from './manifests.js';

const SECRET: Record<string, string> = readManifest('k8s/secret.example.yaml').stringData;
const MOUNTED_SECRETS = '/run/secrets/transcript-receiver/';

/** What a command uses of the configuration. */
const NEEDED: Record<string, Needs> = { serve: 'everything', reconcile: 'service', verify: 'store' };

export interface PodConfig {
  readonly config: Config;
  /** Keys of the Secret that the pod mounts, and those that its command reads. */
  readonly mounted: readonly string[];
  readonly read: readonly string[];
}

/** The pod of the Deployment or CronJob. */
export function podOf(manifest: Manifest) {
  const { spec } = manifest.kind === 'CronJob' ? manifest.spec.jobTemplate : manifest;
  return spec.template.spec;
}

/** The configuration a pod starts with; its secrets are those of the example that its volume holds. */
export function podConfig(manifests: readonly Manifest[], workload: Manifest): PodConfig {
  const { containers, volumes = [] } = podOf(workload);
  const [container] = containers;
  const given = Object.fromEntries(
    (container.env ?? []).map(({ name, value }: Record<string, string>) => [name, value]),
  );
  const mounted = keysOf(volumes);
  const read = new Set<string>();
  const readFile = (file: string): string => {
    const key = mounted.find((each) => file === `${MOUNTED_SECRETS}${each}`);
    const value = key === undefined ? undefined : SECRET[key];
    if (key === undefined || value === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
    read.add(key);
    return value;
  };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pod-config-'));
  try {
    const files: Record<string, string> = pick(manifests, 'ConfigMap', /receiver-config/).data;
    for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
    const env = { ...given, NODE_CONFIG_DIR: folder, NODE_ENV: 'production' };
    const needed = settingsFor(NEEDED[container.args[0]] ?? 'store', loadSettings(env).tree);
    return { config: parseConfig(needed, { env, readFile, hostName: 'pod-1' }), mounted, read: [...read] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function keysOf(volumes: { name: string; secret?: { items?: { key: string }[] } }[]): readonly string[] {
  const secret = volumes.find(({ name }) => name === 'secrets')?.secret;
  return secret === undefined ? [] : (secret.items?.map(({ key }) => key) ?? Object.keys(SECRET));
}
