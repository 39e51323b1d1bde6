import { describe, expect, it } from '@jest/globals';
import { parseDuration } from '../../src/config/units.js';
import {
  GATEWAYS,
  pick,
  readManifest,
  readProjectFile,
  renderGateway,
  renderOverlay,
} from '../support/manifests.js';
import { podConfig, podOf } from '../support/pod-config.js';

/* Routes and balancers of k8s/ beside the settings of the production overlay: what is public, and which side waits longer. */

const production = renderOverlay('production');
const deployment = pick(production, 'Deployment');
const { limits, receiver } = podConfig(production, deployment).config;
const milliseconds = (text: string) => parseDuration(text) ?? Number.NaN;

const attribute = (list: { key: string; value: string }[], key: string) =>
  list.find((each) => each.key === key)?.value;

/** Between the time-outs of the receiver: an idle sender gets its 408, and no request meets a closing connection. */
function expectBetweenTimeouts(idle: number): void {
  expect(idle).toBeGreaterThan(limits.idleTimeout);
  expect(idle).toBeLessThan(receiver.keepAliveTimeout);
}

describe.each(GATEWAYS)('k8s/gateway/%s', (name) => {
  const manifests = renderGateway(name);
  const route = pick(manifests, 'HTTPRoute').spec;
  const gateway = pick(manifests, 'Gateway');

  it('sends callbacks, and only those, to the public service, without a limit for whole requests', () => {
    const service = pick(production, 'Service', /receiver$/);
    expect(route.rules).toEqual([
      {
        matches: [{ path: { type: 'PathPrefix', value: '/callbacks' } }],
        timeouts: { request: '0s', backendRequest: '0s' },
        backendRefs: [{ name: service.metadata.name, port: service.spec.ports[0].port }],
      },
    ]);
  });

  it('listens for https only, and the route is attached to that listener', () => {
    const [parent] = route.parentRefs;
    expect(parent.name).toBe(gateway.metadata.name);
    expect(new URL(receiver.publicUrl ?? '').hostname).toBe(route.hostnames[0]);
    expect(gateway.spec.listeners).toEqual([
      expect.objectContaining({ name: parent.sectionName, protocol: 'HTTPS', hostname: route.hostnames[0] }),
    ]);
  });

  it('puts everything into the namespace of the service, except a class of its own', () => {
    for (const { kind, metadata } of manifests) {
      const { namespace } = metadata as { namespace?: string };
      expect([kind, namespace]).toEqual([kind, kind === 'GatewayClass' ? undefined : 'transcript-receiver']);
    }
  });
});

describe('Envoy Gateway', () => {
  const manifests = renderGateway('envoy');
  const client = pick(manifests, 'ClientTrafficPolicy').spec;

  it('uses the class of the cluster, which it neither makes nor changes', () => {
    const { gatewayClassName } = pick(manifests, 'Gateway').spec;
    expect(gatewayClassName).toBe(readManifest('k8s/gateway/envoy/gateway-class.yaml').metadata.name);
    expect(manifests.map(({ kind }) => kind)).not.toContain('GatewayClass');
  });

  const backend = pick(manifests, 'BackendTrafficPolicy').spec;

  it('neither buffers bodies nor counts their whole duration', () => {
    expect(backend).not.toHaveProperty('requestBuffer');
    expect(backend.timeout.http).not.toHaveProperty('requestTimeout');
    expect(client.timeout.http).not.toHaveProperty('requestReceivedTimeout');
    for (const each of [client.timeout.http, backend.timeout.http])
      expect(each).not.toHaveProperty('maxStreamDuration');
  });

  it('waits longer than the receiver, and gives up idle connections before it', () => {
    expectBetweenTimeouts(milliseconds(client.timeout.http.streamIdleTimeout));
    expectBetweenTimeouts(milliseconds(backend.timeout.http.connectionIdleTimeout));
  });

  it('repeats only what got no answer, and carries all deliveries that the replicas take at once', () => {
    expect(backend.retry.retryOn).toEqual({ triggers: ['connect-failure', 'reset'] });
    const { maxReplicas } = pick(production, 'HorizontalPodAutoscaler').spec;
    for (const limit of ['maxConnections', 'maxPendingRequests', 'maxParallelRequests'])
      expect(backend.circuitBreaker[limit]).toBeGreaterThan(maxReplicas * limits.maxConcurrentDeliveries);
  });

  it('attaches its policies to the gateway and the route', () => {
    expect([...client.targetRefs, ...backend.targetRefs]).toEqual([
      expect.objectContaining({ kind: 'Gateway', name: pick(manifests, 'Gateway').metadata.name }),
      expect.objectContaining({ kind: 'HTTPRoute', name: pick(manifests, 'HTTPRoute').metadata.name }),
    ]);
  });
});

describe('AWS Load Balancer Controller', () => {
  const manifests = renderGateway('aws');
  const balancer = pick(manifests, 'LoadBalancerConfiguration');
  const target = pick(manifests, 'TargetGroupConfiguration').spec;

  it('closes idle connections before the receiver does', () => {
    const own = pick(manifests, 'GatewayClass');
    expect(pick(manifests, 'Gateway').spec.gatewayClassName).toBe(own.metadata.name);
    const { parametersRef } = own.spec;
    const { kind, metadata } = balancer;
    expect(parametersRef).toMatchObject({ kind, name: metadata.name, namespace: 'transcript-receiver' });
    expectBetweenTimeouts(
      Number(attribute(balancer.spec.loadBalancerAttributes, 'idle_timeout.timeout_seconds')) * 1000,
    );
  });

  it('drains a target as long as the receiver, and within the life of the pod', () => {
    const { targetGroupAttributes } = target.defaultConfiguration;
    const seconds = Number(attribute(targetGroupAttributes, 'deregistration_delay.timeout_seconds'));
    expect(seconds * 1000).toBe(receiver.drainDelay + receiver.drainDeadline);
    expect(seconds).toBeLessThan(podOf(deployment).terminationGracePeriodSeconds);
  });

  it('asks the pods themselves whether they are ready, and notices before they stop accepting', () => {
    const { targetType, healthCheckConfig } = target.defaultConfiguration;
    expect({ targetType, path: healthCheckConfig.healthCheckPath }).toEqual({
      targetType: 'ip',
      path: '/readyz',
    });
    const { healthCheckInterval, unhealthyThresholdCount } = healthCheckConfig;
    expect(healthCheckInterval * unhealthyThresholdCount * 1000).toBeLessThanOrEqual(receiver.drainDelay);
    expect(target.targetReference.name).toBe('transcript-receiver');
  });
});

it('gives a replica that a busy machine holds up 3 s to say that it is ready, whoever asks', () => {
  const { healthCheckConfig } = pick(renderGateway('aws'), 'TargetGroupConfiguration').spec
    .defaultConfiguration;
  const haproxy = /^ *timeout check (\d+)s$/m.exec(readProjectFile('deploy/haproxy.cfg'))?.[1];
  const { timeoutSeconds } = podOf(deployment).containers[0].readinessProbe;
  for (const seconds of [healthCheckConfig.healthCheckTimeout, Number(haproxy), timeoutSeconds])
    expect(seconds).toBeGreaterThanOrEqual(3);
});
