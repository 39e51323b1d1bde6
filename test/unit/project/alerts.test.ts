import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { CALLBACK_REFUSALS } from '../../../src/domain/problem.js';
import { createMetrics } from '../../../src/observe/metrics/metrics.js';
import { ISSUE_CODES } from '../../../src/operations/issues/issue-kinds.js';
import { inProject, readManifest, readProjectFile } from '../../support/manifests.js';
import {
  ALERT_PREFIX,
  ALERTS_OF_ISSUES,
  ALERTS_WITHOUT_ISSUE,
  runbookOf,
} from '../../support/project/alerts-of-issues.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Record<string, string>;
}

const { groups } = readManifest('k8s/components/monitoring/prometheus-rule.yaml').spec as {
  groups: readonly { rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

describe('alerts', () => {
  it('are found', () => expect(rules.length).toBeGreaterThan(10));

  it.each(rules.map((rule) => rule.alert))('%s has a case where it fires', (alert) => {
    const { tests } = parse(readProjectFile('test/platform/alerts/transcript-receiver.test.yaml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const cases = tests.flatMap((test) => test.alert_rule_test).filter((each) => each.alertname === alert);
    expect(cases.some((each) => each.exp_alerts.length > 0)).toBe(true);
  });
});

describe('alerts and issues of the verdict', () => {
  const names = rules.map(({ alert }) => alert.replace(ALERT_PREFIX, ''));
  const used = new Set(
    Object.values(ALERTS_OF_ISSUES).flatMap((alerts) => (typeof alerts === 'string' ? [] : alerts)),
  );

  it('are one list: every alert has an issue, or a reason why it has none', () => {
    expect([...used, ...Object.keys(ALERTS_WITHOUT_ISSUE)].sort()).toEqual([...names].sort());
  });

  it('say of an issue without an alert why it has none', () => {
    const reasons = Object.values(ALERTS_OF_ISSUES).filter((alerts) => typeof alerts === 'string');
    expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
  });

  it.each(rules)('$alert has the page that the table of issues leads to', ({ alert, annotations }) => {
    expect(annotations.runbook_url).toMatch(new RegExp(`/${runbookOf(alert.replace(ALERT_PREFIX, ''))}$`));
  });
});

describe('runbooks', () => {
  it.each(rules)('$alert has a page that says what it means, how to confirm and what to do', (rule) => {
    const page = readProjectFile(new URL(rule.annotations.runbook_url ?? '').pathname.slice(1));
    const [title] = page.split('\n');
    expect(title).toBe(`# ${rule.alert}`);
    expect(page.match(/^## .*$/gm)).toEqual(['## What it means', '## Confirm', '## Do']);
  });

  it('are all for an alert', () => {
    const linked = rules.map((rule) => path.basename(rule.annotations.runbook_url ?? ''));
    const pages = readdirSync(inProject('docs/runbooks')).filter((page) => page !== 'README.md');
    expect(pages.sort()).toEqual(linked.sort());
  });
});

describe('names', () => {
  const dashboard = readProjectFile('k8s/components/monitoring/dashboard.json');
  const runbooks = readdirSync(inProject('docs/runbooks')).map((page): [string, string] => [
    `runbook ${page}`,
    readProjectFile(`docs/runbooks/${page}`),
  ]);
  let known: ReadonlySet<string>;

  beforeAll(async () => {
    const metrics = createMetrics({ sources: [], regions: [] });
    const described = await metrics.describe();
    metrics.close();
    known = new Set(
      described.flatMap(({ name, type }) =>
        type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
  });

  it.each<[string, string]>([
    ...rules.map((rule): [string, string] => [`alert ${rule.alert}`, rule.expr]),
    ['the dashboard', dashboard],
    ...runbooks,
  ])('%s uses metrics that exist', (_name, text) => {
    const used = text.match(/\btranscript_receiver_[a-z0-9_]+/g) ?? [];
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(rules)('$alert asks for issues that exist', ({ expr }) => {
    const codes = [...expr.matchAll(/transcript_receiver_issues\{code=~?"([^"]+)"/g)].flatMap(
      ([, code = '']) => code.split('|'),
    );
    expect(codes.filter((code) => !ISSUE_CODES.some((each) => each === code))).toEqual([]);
  });

  it('are watched for every reason of a refused callback, but a slow head, which is no callback yet, and a shutdown', () => {
    const reasons = rules.flatMap((rule) =>
      [...rule.expr.matchAll(/reason=~?"([^"]+)"/g)].flatMap((match) => (match[1] ?? '').split('|')),
    );
    expect([...new Set([...reasons, 'head-too-slow', 'draining'])].sort()).toEqual(
      [...CALLBACK_REFUSALS].sort(),
    );
  });
});
