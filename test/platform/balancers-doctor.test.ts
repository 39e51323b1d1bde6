import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../src/cli/doctor/finding.js';
import { BALANCERS, type BalancerKind, startBalancer } from '../support/http/balancer.js';
import { GUARDED, type Replicas, startReplicas } from '../support/processes/replicas.js';
import { runCli } from '../support/processes/run-cli.js';

/* What doctor says of balancers: nothing against the shipped files, and what is wrong with others. */

let replicas: Replicas;

beforeAll(async () => {
  replicas = await startReplicas();
});

afterAll(() => replicas?.stop());

async function doctorBehind(kind: BalancerKind, replace: Record<string, string> = {}) {
  const balancer = await startBalancer(kind, { replicas: replicas.addresses, replace });
  const settings = { store: { url: `file:${replicas.folder}` }, sources: { default: GUARDED } };
  const env = { NODE_CONFIG: JSON.stringify(settings), NODE_NO_WARNINGS: '1' };
  const { stdout } = await runCli(['doctor', '--json', '--url', balancer.url], env);
  await balancer.stop();
  const findings = JSON.parse(stdout).findings as Finding[];
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
}

describe('doctor', () => {
  it.each(BALANCERS)('has nothing against the shipped file of %s', async (kind) => {
    const found = await doctorBehind(kind);
    for (const check of ['public callback', 'public body size', 'public surface']) {
      expect(found[check]).toMatchObject({ verdict: 'ok' });
    }
  });

  it('names the size limit of an nginx with its own', async () => {
    const found = await doctorBehind('nginx', { 'client_max_body_size 0;': 'client_max_body_size 8m;' });
    expect(found['public body size']).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/answered 413 to a body of/),
    });
  });

  it('notices an nginx that collects bodies before it passes them on', async () => {
    const found = await doctorBehind('nginx', { 'proxy_request_buffering off;': '' });
    expect(found['public body size']).toMatchObject({
      verdict: 'failed',
      advice: expect.stringContaining('proxy_request_buffering'),
    });
  });
});
