import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Config, parseConfig, withoutCredentials } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/load-settings.js';
import { parseSize } from '../../src/config/units.js';
import { type Manifest, OVERLAYS, pick, readManifest, renderOverlay } from '../support/manifests.js';

const scratch = mkdtempSync(path.join(os.tmpdir(), 'overlay-config-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const SECRET: Record<string, string> = readManifest('k8s/secret.example.yaml').stringData;
const MOUNTED_SECRETS = '/run/secrets/transcript-receiver/';

/** The configuration a pod of the overlay starts with, its secrets taken from the example. */
function configOf(manifests: readonly Manifest[], container: Container, secrets: SecretVolume = {}): Config {
  const folder = mkdtempSync(path.join(scratch, 'config-'));
  const files: Record<string, string> = pick(manifests, 'ConfigMap', /config/).data;
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  const given = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));
  expect(given.NODE_CONFIG_DIR).toBe('/etc/transcript-receiver');
  const env = { ...given, NODE_CONFIG_DIR: folder, NODE_ENV: 'production' };
  const { tree } = loadSettings(env);
  const needed = container.args?.[0] === 'serve' ? tree : withoutCredentials(tree);
  return parseConfig(needed, { env, readFile: secretReader(secrets), hostName: 'pod-1' });
}

/** Reads what the pod's volume holds: the named keys of the example Secret, or all of them. */
function secretReader(secrets: SecretVolume): (file: string) => string {
  const mounted = secrets.items?.map(({ key }) => key) ?? Object.keys(SECRET);
  return (file) => {
    const key = mounted.find((each) => file === `${MOUNTED_SECRETS}${each}`);
    const value = key === undefined ? undefined : SECRET[key];
    if (value === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
    return value;
  };
}

interface SecretVolume {
  readonly items?: readonly { key: string; path: string }[];
}

const secretsOf = (pod: { volumes: { name: string; secret: SecretVolume }[] }): SecretVolume =>
  pod.volumes.find(({ name }) => name === 'secrets')?.secret ?? { items: [] };

interface Container {
  readonly args?: readonly string[];
  readonly env?: { name: string; value: string }[];
  readonly ports?: { name: string; containerPort: number }[];
  readonly [field: string]: unknown;
}

const quantity = (text: string) => parseSize(text.replace(/i$/, 'iB')) ?? Number.NaN;

describe.each(OVERLAYS)('overlay %s', (overlay) => {
  const manifests = renderOverlay(overlay);
  const deployment = pick(manifests, 'Deployment');
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const config = configOf(manifests, container);

  it('mounts a configuration that the receiver accepts', () => {
    expect(Object.keys(config.sources)).toEqual(['default']);
    expect(Object.keys(config.sources.default?.credentials ?? {})).toEqual(['a', 'b']);
  });

  it('opens the ports that the configuration listens on', () => {
    const ports = Object.fromEntries(
      container.ports.map((port: { name: string; containerPort: number }) => [port.name, port.containerPort]),
    );
    expect(ports).toEqual({ public: config.receiver.port, admin: config.admin.port });
    for (const host of [config.receiver.host, config.admin.host]) expect(host).toBe('0.0.0.0');
  });

  it('keeps public and admin in services of their own', () => {
    const targets = manifests
      .filter((each) => each.kind === 'Service')
      .map((each) => each.spec.ports.map((port: { targetPort: string }) => port.targetPort));
    expect(targets.sort()).toEqual([['admin'], ['public']]);
  });

  it('gives a pod long enough to drain', () => {
    const { drainDelay, drainDeadline } = config.receiver;
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(
      drainDelay + drainDeadline + 10_000,
    );
  });

  it('turns a pod away from traffic before it stops taking requests', () => {
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    expect(config.receiver.drainDelay).toBeGreaterThanOrEqual(periodSeconds * failureThreshold * 1000);
  });

  it('gives a pod memory for the heap, the byte budget and as much again', () => {
    const heap = /--max-old-space-size=(\d+)/.exec(JSON.stringify(container.env))?.[1];
    const needed = Number(heap) * 2 ** 20 + 2 * config.limits.memoryBudget;
    expect(quantity(container.resources.limits.memory)).toBeGreaterThanOrEqual(needed);
  });

  it('meets the restricted pod security standard', () => {
    const templates = manifests.flatMap((each) => {
      if (each.kind === 'Deployment') return [each.spec.template.spec];
      return each.kind === 'CronJob' ? [each.spec.jobTemplate.spec.template.spec] : [];
    });
    for (const spec of templates) {
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const each of spec.containers) {
        expect(each.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('selects with every service and policy the pods there are', () => {
    const labels = deployment.spec.template.metadata.labels;
    const selectors = manifests.flatMap((each) => {
      if (each.kind === 'Service') return [each.spec.selector];
      if (each.kind === 'NetworkPolicy') return [each.spec.podSelector.matchLabels];
      return each.kind === 'PodDisruptionBudget' ? [each.spec.selector.matchLabels] : [];
    });
    expect(selectors.length).toBeGreaterThanOrEqual(3);
    for (const selector of selectors) expect(labels).toMatchObject(selector);
  });
});

describe('overlay single-node', () => {
  it('writes only to its volume', () => {
    const manifests = renderOverlay('single-node');
    const pod = pick(manifests, 'Deployment').spec.template.spec;
    const { store } = configOf(manifests, pod.containers[0]);
    expect(store.url).toBe('file:/data');
    expect(pod.containers[0].volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' });
  });
});

describe('overlay production', () => {
  const manifests = renderOverlay('production');

  it('lets the CronJob alone reconcile, with the settings of the replicas', () => {
    const pod = pick(manifests, 'CronJob', /reconcile/).spec.jobTemplate.spec.template.spec;
    const job = pod.containers[0];
    const config = configOf(manifests, job, secretsOf(pod));
    expect(config.recovery.interval).toBeNull();
    expect(config.speech.apiKey).not.toBeNull();
    expect(job.args[0]).toBe('reconcile');
  });

  it('verifies in a CronJob of its own, with the settings of the replicas', () => {
    const pod = pick(manifests, 'CronJob', /verify/).spec.jobTemplate.spec.template.spec;
    const [job] = pod.containers;
    expect(configOf(manifests, job, secretsOf(pod)).store.url).toMatch(/^s3:/);
    expect(job.args[0]).toBe('verify');
  });

  it('compacts in a CronJob alone, with the settings of the replicas', () => {
    const pod = pick(manifests, 'CronJob', /compact/).spec.jobTemplate.spec.template.spec;
    const [job] = pod.containers;
    const { store, ledger } = configOf(manifests, job, secretsOf(pod));
    expect({ compact: ledger.compact, url: store.url }).toMatchObject({
      compact: false,
      url: expect.stringMatching(/^s3:/),
    });
    expect(job.args[0]).toBe('compact');
  });

  it.each(['reconcile', 'verify', 'compact'])(
    'gives the CronJob of %s no secret but the one it needs',
    (name) => {
      const pod = pick(manifests, 'CronJob', new RegExp(name)).spec.jobTemplate.spec.template.spec;
      expect(secretsOf(pod).items).toEqual([{ key: 'speech-api-key', path: 'speech-api-key' }]);
    },
  );

  it("lets Prometheus' own pods to the admin port, and not all of their namespace", () => {
    const { ingress } = pick(manifests, 'NetworkPolicy').spec;
    const toAdmin = ingress.filter(({ ports }: { ports: { port: string }[] }) =>
      ports.some(({ port }) => port === 'admin'),
    );
    const from = toAdmin.flatMap((rule: { from: Record<string, unknown>[] }) => rule.from);
    expect(from.length).toBeGreaterThan(0);
    for (const peer of from) expect(peer).toHaveProperty('podSelector.matchLabels');
  });

  it('never scales below what the disruption budget needs', () => {
    const { minReplicas, scaleTargetRef } = pick(manifests, 'HorizontalPodAutoscaler').spec;
    const deployment = pick(manifests, 'Deployment');
    expect(scaleTargetRef.name).toBe(deployment.metadata.name);
    expect(minReplicas).toBe(3);
    expect(deployment.spec).not.toHaveProperty('replicas');
    expect(minReplicas).toBeGreaterThan(pick(manifests, 'PodDisruptionBudget').spec.maxUnavailable);
  });

  it('scrapes the admin service where the metrics are', () => {
    const monitor = pick(manifests, 'ServiceMonitor').spec;
    const service = pick(manifests, 'Service', /admin/);
    expect(service.metadata).toMatchObject({ labels: monitor.selector.matchLabels });
    expect(service.spec.ports.map((port: { name: string }) => port.name)).toContain(
      monitor.endpoints[0].port,
    );
    expect(monitor.endpoints[0].path).toBe('/metrics');
  });
});

describe('ingress examples', () => {
  const config = configOf(renderOverlay('production'), {
    env: [{ name: 'NODE_CONFIG_DIR', value: '/etc/transcript-receiver' }],
  });

  it.each(['nginx', 'alb'])('%s sends callbacks, and only those, to the public service', (name) => {
    const { rules } = readManifest(`k8s/ingress/${name}.yaml`).spec;
    const paths = rules.flatMap((rule: { http: { paths: object[] } }) => rule.http.paths);
    expect(paths).toEqual([
      expect.objectContaining({
        path: '/callbacks',
        backend: { service: { name: 'transcript-receiver', port: { name: 'public' } } },
      }),
    ]);
  });

  it('nginx takes https only', () => {
    const annotations = readManifest('k8s/ingress/nginx.yaml').metadata.annotations ?? {};
    expect(annotations['nginx.ingress.kubernetes.io/ssl-redirect']).toBe('true');
  });

  it('nginx waits longer than the receiver, so that its answer arrives', () => {
    const annotations = readManifest('k8s/ingress/nginx.yaml').metadata.annotations ?? {};
    const seconds = Number(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout']);
    expect(seconds * 1000).toBeGreaterThan(config.limits.idleTimeout);
  });

  it('an ALB closes idle connections before the receiver does', () => {
    const annotations = readManifest('k8s/ingress/alb.yaml').metadata.annotations ?? {};
    const attributes = annotations['alb.ingress.kubernetes.io/load-balancer-attributes'] ?? '';
    const seconds = Number(/idle_timeout\.timeout_seconds=(\d+)/.exec(attributes)?.[1]);
    expect(seconds * 1000).toBeLessThan(config.receiver.keepAliveTimeout);
    expect(seconds * 1000).toBeGreaterThan(config.limits.idleTimeout);
  });
});
