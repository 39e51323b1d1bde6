import { describe, expect, it } from '@jest/globals';
import { parseSize } from '../../src/config/units.js';
import { OVERLAYS, pick, readProjectFile, renderOverlay } from '../support/manifests.js';
import { podConfig, podOf } from '../support/pod-config.js';

const quantity = (text: string) => parseSize(text.replace(/i$/, 'iB')) ?? Number.NaN;

describe.each(OVERLAYS)('overlay %s', (overlay) => {
  const manifests = renderOverlay(overlay);
  const deployment = pick(manifests, 'Deployment');
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const { config } = podConfig(manifests, deployment);

  it('mounts a configuration that the receiver accepts', () => {
    expect(Object.keys(config.sources)).toEqual(['default']);
    expect(Object.keys(config.sources.default?.credentials ?? {})).toEqual(['a', 'b']);
  });

  it('points every container at the mounted configuration', () => {
    const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob');
    for (const workload of workloads) {
      const [{ env, volumeMounts }] = podOf(workload).containers;
      expect(env).toContainEqual({ name: 'NODE_CONFIG_DIR', value: '/etc/transcript-receiver' });
      expect(volumeMounts).toContainEqual({
        name: 'config',
        mountPath: '/etc/transcript-receiver',
        readOnly: true,
      });
    }
  });

  it('mounts for every workload the secrets that its command reads, and no other', () => {
    const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob');
    for (const workload of workloads) {
      const { mounted, read } = podConfig(manifests, workload);
      expect({ name: workload.metadata.name, keys: [...mounted].sort() }).toEqual({
        name: workload.metadata.name,
        keys: [...read].sort(),
      });
    }
  });

  it('opens the ports that the configuration listens on', () => {
    const ports = Object.fromEntries(
      container.ports.map((port: { name: string; containerPort: number }) => [port.name, port.containerPort]),
    );
    expect(ports).toEqual({ public: config.receiver.port, admin: config.admin.port });
    for (const host of [config.receiver.host, config.admin.host]) expect(host).toBe('');
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

  it('gives the index of the ledger a volume of the node that holds it, and asks for the storage', () => {
    const folder = /\bCACHE_DIRECTORY=(\S+)/.exec(readProjectFile('Dockerfile'))?.[1];
    const mount = container.volumeMounts.find(({ mountPath }: { mountPath: string }) => mountPath === folder);
    const volume = pod.volumes.find(({ name }: { name: string }) => name === mount?.name);
    const size = quantity(volume.emptyDir.sizeLimit);
    expect(config.ledger.index).toMatchObject({ path: null });
    expect(size).toBeGreaterThan(config.ledger.index.maxBytes);
    expect(quantity(container.resources.requests['ephemeral-storage'])).toBeGreaterThanOrEqual(size);
  });

  it('meets the restricted pod security standard', () => {
    const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob');
    for (const spec of workloads.map(podOf)) {
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
      if (each.kind === 'Deployment') return [each.spec.selector.matchLabels];
      return each.kind === 'PodDisruptionBudget' ? [each.spec.selector.matchLabels] : [];
    });
    expect(selectors.length).toBeGreaterThanOrEqual(5);
    for (const selector of selectors) expect(labels).toMatchObject(selector);
  });
});

describe('overlay single-node', () => {
  it('writes only to its volume', () => {
    const manifests = renderOverlay('single-node');
    const deployment = pick(manifests, 'Deployment');
    expect(podConfig(manifests, deployment).config.store.url).toBe('file:/data');
    expect(podOf(deployment).containers[0].volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' });
  });
});

describe('overlay production', () => {
  const manifests = renderOverlay('production');

  it.each(['reconcile', 'verify'])(
    'runs %s in a CronJob of its own, over the store of the replicas',
    (name) => {
      const job = pick(manifests, 'CronJob', new RegExp(name));
      expect(podConfig(manifests, job).config.store.url).toBe('s3://example-transcripts');
      expect(podOf(job).containers[0].args[0]).toBe(name);
    },
  );

  it('lets the CronJob alone reconcile, and the replicas merge', () => {
    const { recovery, ledger, speech } = podConfig(manifests, pick(manifests, 'Deployment')).config;
    expect({ interval: recovery.interval, merge: ledger.merge }).toEqual({
      interval: null,
      merge: true,
    });
    expect(speech.apiKey).toBe(
      podConfig(manifests, pick(manifests, 'CronJob', /reconcile/)).config.speech.apiKey,
    );
  });

  it('never scales below what the disruption budget needs', () => {
    const { minReplicas, scaleTargetRef } = pick(manifests, 'HorizontalPodAutoscaler').spec;
    const deployment = pick(manifests, 'Deployment');
    expect(scaleTargetRef.name).toBe(deployment.metadata.name);
    expect(minReplicas).toBe(3);
    expect(deployment.spec).not.toHaveProperty('replicas');
    expect(minReplicas).toBeGreaterThan(pick(manifests, 'PodDisruptionBudget').spec.maxUnavailable);
  });
});
