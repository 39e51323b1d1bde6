import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { inProject, readManifest, readProjectFile } from '../support/manifests.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Record<string, string>;
}

const groups: { name: string; rules: Rule[] }[] = readManifest(
  'k8s/components/monitoring/prometheus-rule.yaml',
).spec.groups;
const rules = groups.flatMap((group) => group.rules);

const scratch = mkdtempSync(path.join(os.tmpdir(), 'alerts-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What promtool says; throws with its output when it finds a fault. */
function promtool(...args: string[]): string {
  return execFileSync('promtool', args, { cwd: scratch, encoding: 'utf8', stdio: 'pipe' });
}

describe('alert rules', () => {
  it('are accepted by Prometheus', () => {
    writeFileSync(path.join(scratch, 'alerts.yaml'), stringify({ groups }));
    expect(promtool('check', 'rules', 'alerts.yaml')).toContain(`${rules.length} rules found`);
  });

  // Annotations are wording: the unit tests are about when an alert fires and for whom.
  it('fire when they should and only then', () => {
    const bare = groups.map((group) => ({
      ...group,
      rules: group.rules.map(({ annotations: _wording, ...rule }) => rule),
    }));
    writeFileSync(path.join(scratch, 'rules.yaml'), stringify({ groups: bare }));
    const unitTests = 'transcript-receiver.test.yaml';
    copyFileSync(inProject(`test/platform/alerts/${unitTests}`), path.join(scratch, unitTests));
    expect(promtool('test', 'rules', unitTests)).toContain('SUCCESS');
  });
});

describe('the dashboard of Grafana', () => {
  const panels: { targets: { expr: string }[] }[] = JSON.parse(
    readProjectFile('k8s/components/monitoring/dashboard.json'),
  ).panels;

  it('holds queries that Prometheus understands', () => {
    const queries = panels.flatMap((panel) => panel.targets).map((target) => target.expr);
    const recorded = queries.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$namespace', 'any'),
    }));
    writeFileSync(
      path.join(scratch, 'panels.yaml'),
      stringify({ groups: [{ name: 'panels', rules: recorded }] }),
    );
    expect(promtool('check', 'rules', 'panels.yaml')).toContain(`${queries.length} rules found`);
  });
});
