import { describe, expect, it } from '@jest/globals';
import {
  COMPONENTS,
  type Manifest,
  OVERLAYS,
  renderOverlay,
  renderWithComponents,
} from '../support/manifests.js';
import { podConfig, podOf } from '../support/pod-config.js';

type Labels = Readonly<Record<string, string>>;

interface Peer {
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly podSelector?: { readonly matchLabels: Labels };
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly ports?: readonly { readonly port: number | string }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

const RECEIVER: Labels = {
  'app.kubernetes.io/name': 'transcript-receiver',
  'app.kubernetes.io/component': 'receiver',
};

/** Rules that apply to a pod with these labels; null when no policy closes this direction for it. */
function rulesFor(manifests: readonly Manifest[], pod: Labels, direction: 'Ingress' | 'Egress') {
  const policies = manifests.filter(
    ({ kind, spec }) =>
      kind === 'NetworkPolicy' &&
      spec.policyTypes.includes(direction) &&
      Object.entries(spec.podSelector.matchLabels).every(([name, value]) => pod[name] === value),
  );
  const rules = policies.flatMap(({ spec }) => (spec[direction.toLowerCase()] ?? []) as Rule[]);
  return policies.length === 0 ? null : rules;
}

const workloads = (manifests: readonly Manifest[]) =>
  manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob')
    .map(({ kind, spec }): Labels => {
      const { template } = kind === 'CronJob' ? spec.jobTemplate.spec : spec;
      return template.metadata.labels;
    });

const toPort = (rules: readonly Rule[] | null, port: number | string): readonly Rule[] =>
  (rules ?? []).filter(({ ports }) => ports?.some((each) => each.port === port));

describe.each(OVERLAYS)('network policies of the overlay %s', (overlay) => {
  const manifests = renderOverlay(overlay);

  it('let callbacks in from anywhere, and to the admin port only pods with the label for it', () => {
    const rules = rulesFor(manifests, RECEIVER, 'Ingress');
    expect(toPort(rules, 'public')).toEqual([{ ports: [{ port: 'public' }] }]);
    expect(toPort(rules, 'admin').flatMap(({ from }) => from)).toEqual([
      { podSelector: { matchLabels: { 'transcript-receiver/admin-access': 'true' } } },
    ]);
    expect(rules).toHaveLength(2);
  });

  it('let nothing in to pods that do not listen', () => {
    for (const labels of workloads(manifests)) {
      if (labels['app.kubernetes.io/component'] === 'receiver') continue;
      expect(rulesFor(manifests, labels, 'Ingress')).toEqual([]);
    }
  });

  it('let every pod out to names and to public https addresses, and to nothing else', () => {
    for (const labels of workloads(manifests)) {
      const rules = rulesFor(manifests, labels, 'Egress');
      expect(rules?.map(({ ports }) => ports?.map(({ port }) => port))).toEqual([[53, 53], [443]]);
      const blocks = toPort(rules, 443).flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
      expect(blocks.map((block) => block?.cidr)).toEqual(['0.0.0.0/0', '::/0']);
      // The metadata services of cloud machines, which hand out the node's own credentials.
      expect(blocks[0]?.except).toContain('169.254.0.0/16');
      expect(blocks[1]?.except).toContain('fc00::/7');
    }
  });
});

describe('components of the production overlay', () => {
  it("monitoring lets Prometheus' own pods to the admin port, and not all of their namespace", () => {
    const rules = rulesFor(renderWithComponents(['monitoring']), RECEIVER, 'Ingress');
    expect(toPort(rules, 'admin').flatMap(({ from }) => from)).toContainEqual({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
    });
  });

  it('monitoring scrapes the admin service where the metrics are', () => {
    const manifests = renderWithComponents(['monitoring']);
    const monitor = manifests.find(({ kind }) => kind === 'ServiceMonitor')?.spec;
    const service = manifests.find(({ kind, metadata }) => kind === 'Service' && /admin/.test(metadata.name));
    expect(service?.metadata).toMatchObject({ labels: monitor.selector.matchLabels });
    expect(service?.spec.ports.map((port: { name: string }) => port.name)).toContain(
      monitor.endpoints[0].port,
    );
    expect(monitor.endpoints[0].path).toBe('/metrics');
  });

  it('eks-pod-identity lets every pod to the agent on its node', () => {
    const manifests = renderWithComponents(['eks-pod-identity']);
    for (const labels of workloads(manifests)) {
      const [agent] = toPort(rulesFor(manifests, labels, 'Egress'), 80);
      expect(agent?.to?.map(({ ipBlock }) => ipBlock?.cidr)).toEqual([
        '169.254.170.23/32',
        'fd00:ec2::23/128',
      ]);
    }
  });

  it('workload-identity gives every pod a token where the AWS chain looks for it', () => {
    const manifests = renderWithComponents(['workload-identity']);
    const identity = manifests.find(({ metadata }) => metadata.name === 'transcript-receiver-identity')?.data;
    for (const workload of manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob')) {
      const { containers, volumes } = podOf(workload);
      expect(containers[0].envFrom).toEqual([{ configMapRef: { name: 'transcript-receiver-identity' } }]);
      const mount = containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'identity');
      const volume = volumes.find(({ name }: { name: string }) => name === 'identity');
      const [{ serviceAccountToken }] = volume.projected.sources;
      expect(`${mount.mountPath}/${serviceAccountToken.path}`).toBe(identity.AWS_WEB_IDENTITY_TOKEN_FILE);
      expect(serviceAccountToken.audience).toBe('sts.amazonaws.com');
    }
  });

  it('all together still start every workload', () => {
    const manifests = renderWithComponents(COMPONENTS);
    for (const workload of manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob')) {
      expect(podConfig(manifests, workload).config.store.url).toMatch(/^s3:/);
    }
  });
});
