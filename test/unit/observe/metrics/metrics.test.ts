import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMetrics, type Metrics } from '../../../../src/observe/metrics/metrics.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { readSources } from '../../../support/project/source-imports.js';

describe('metrics', () => {
  let metrics: Metrics;
  let now = 0;

  beforeEach(() => {
    now = 1_000_000;
    metrics = createMetrics({
      sources: ['default', 'billing'],
      regions: ['eu1'],
      subscribers: ['crm'],
      version: '1',
      clock: () => now,
    });
  });
  afterEach(() => metrics.close());

  async function samples(name: string): Promise<string[]> {
    const text = await metrics.expose();
    return text.split('\n').filter((line) => line.startsWith(`transcript_receiver_${name}`));
  }

  it('names the status of test callbacks of doctor, which alerts leave out', async () => {
    metrics.deliveries.delivered(ledgerLine({ status: 'doctor', outcome: 'noted' }));
    expect(await samples('deliveries_total')).toEqual([
      'transcript_receiver_deliveries_total{source="default",region="eu1",status="doctor",outcome="noted"} 1',
    ]);
  });

  it('counts deliveries, items and bytes as in the ledger line', async () => {
    metrics.deliveries.delivered(
      ledgerLine({
        bytes: 500,
        items: [
          { kind: 'transcript.json-v2', key: 'k', size: 400, sha256: 'x', outcome: 'created' },
          { kind: 'jobinfo', key: 'k', size: 90, sha256: 'x', outcome: 'identical' },
        ],
      }),
    );
    expect(await samples('deliveries_total')).toEqual([
      'transcript_receiver_deliveries_total{source="default",region="eu1",status="success",outcome="stored"} 1',
    ]);
    expect(await samples('items_total')).toEqual([
      'transcript_receiver_items_total{kind="transcript.json-v2",outcome="created"} 1',
      'transcript_receiver_items_total{kind="jobinfo",outcome="identical"} 1',
    ]);
    expect(await samples('received_bytes_total')).toEqual([
      'transcript_receiver_received_bytes_total{source="default"} 500',
    ]);
  });

  it('shows what alerts watch for an increase before the first time', async () => {
    expect(await samples('quarantine_bodies_total{event="kept"')).toEqual([
      'transcript_receiver_quarantine_bodies_total{event="kept"} 0',
    ]);
    expect(await samples('recovery_jobs_total{outcome="recovered"')).toEqual([
      'transcript_receiver_recovery_jobs_total{outcome="recovered",region="eu1"} 0',
    ]);
    expect(await samples('events_dead_total')).toEqual([
      'transcript_receiver_events_dead_total{subscriber="crm",reason="rejected"} 0',
      'transcript_receiver_events_dead_total{subscriber="crm",reason="expired"} 0',
      'transcript_receiver_events_dead_total{subscriber="crm",reason="failed"} 0',
    ]);
    expect(await samples('refusals_total{reason="credential-invalid",source="billing"')).toEqual([
      'transcript_receiver_refusals_total{reason="credential-invalid",source="billing",origin="sender"} 0',
    ]);
    expect(await samples('refusals_total{reason="source-unknown"')).toContain(
      'transcript_receiver_refusals_total{reason="source-unknown",source="none",origin="sender"} 0',
    );
  });

  it('shows what verify found, without waiting for the store', async () => {
    let found = { missing: 2, damaged: 1, complete: true, finishedAt: '2026-03-04T05:00:00Z' };
    let asked = 0;
    const read = async () => {
      asked += 1;
      if (asked > 1 && found.missing > 0) throw new Error('the store is away');
      return found;
    };
    expect(await samples('verify_missing')).toEqual([]);
    metrics.verify.watchReports(read);
    await Promise.resolve();
    const missing = async () => (await samples('verify_missing'))[0]?.split(' ')[1];
    expect(await missing()).toBe('2');
    expect(await samples('verify_last_success')).toEqual([
      'transcript_receiver_verify_last_success_timestamp_seconds 1772600400',
    ]);
    now += 299_000;
    expect(await missing()).toBe('2');
    expect(asked).toBe(1);
    now += 2000;
    expect(await missing()).toBe('2');
    expect(asked).toBe(2);
    expect(await missing()).toBe('2');
    found = { ...found, missing: 0, complete: false };
    now += 301_000;
    await missing();
    expect(await missing()).toBe('0');
    expect((await samples('verify_last_success'))[0]).toMatch(/ 0$/);
  });

  it('count the issues of the verdict, which is read behind a scrape', async () => {
    let issues = [
      { code: 'subscriber-paused', level: 'warning' },
      { code: 'subscriber-paused', level: 'warning' },
      { code: 'retention-ending', level: 'failing' },
    ];
    let asked = 0;
    let isKnown = true;
    metrics.verdict.watchIssues(async () => {
      asked += 1;
      return { issues, isKnown };
    });
    const known = () => samples('verdict_last_known_timestamp_seconds');
    expect([asked, await samples('issues')]).toEqual([0, []]);
    expect([asked, await samples('issues')]).toEqual([
      1,
      [
        'transcript_receiver_issues{code="subscriber-paused",level="warning"} 2',
        'transcript_receiver_issues{code="retention-ending",level="failing"} 1',
      ],
    ]);
    const at = `transcript_receiver_verdict_last_known_timestamp_seconds ${now / 1000}`;
    expect(await known()).toEqual([at]);
    issues = [];
    isKnown = false;
    now += 300_000;
    await samples('issues');
    expect([asked, await samples('issues')]).toEqual([2, []]);
    expect(await known()).toEqual([at]);
    // The clock is set back.
    now -= 86_400_000;
    await samples('issues');
    expect(asked).toBe(3);
  });

  it('tell refused strangers from the sender', async () => {
    metrics.deliveries.refused('credential-invalid', 'default', 'unknown');
    metrics.deliveries.refused('credential-invalid', 'default', 'sender');
    expect(await samples('refusals_total{reason="credential-invalid",source="default"')).toEqual([
      'transcript_receiver_refusals_total{reason="credential-invalid",source="default",origin="sender"} 1',
      'transcript_receiver_refusals_total{reason="credential-invalid",source="default",origin="unknown"} 1',
    ]);
  });

  it('creates no metric series from sender-supplied names', async () => {
    for (let n = 0; n < 50; n += 1) {
      metrics.deliveries.delivered(
        ledgerLine({
          source: `s${n}`,
          region: `r${n}`,
          status: `t${n}`,
          outcome: `o${n}`,
        }),
      );
      metrics.deliveries.refused('overloaded', `s${n}`);
      metrics.deliveries.wouldRefuse(`reason ${n}`, null);
      metrics.recovery.checked('recovered', `r${n}`);
    }
    expect(await samples('deliveries_total')).toEqual([
      'transcript_receiver_deliveries_total{source="other",region="other",status="other",outcome="other"} 50',
    ]);
    const refusals = await samples('refusals_total');
    expect(refusals.filter((line) => !line.endsWith(' 0'))).toEqual([
      'transcript_receiver_refusals_total{reason="overloaded",source="other",origin="sender"} 50',
    ]);
    expect(await samples('would_refuse_total')).toEqual([
      'transcript_receiver_would_refuse_total{reason="other",source="none"} 50',
    ]);
    const recovered = await samples('recovery_jobs_total');
    expect(recovered.filter((line) => !line.endsWith(' 0'))).toHaveLength(1);
  });

  it('observes durations in seconds', async () => {
    metrics.deliveries.timed({ receive: 20, store: 300, acknowledge: 4 });
    expect(await samples('delivery_duration_seconds_sum')).toEqual([
      'transcript_receiver_delivery_duration_seconds_sum{phase="receive"} 0.02',
      'transcript_receiver_delivery_duration_seconds_sum{phase="store"} 0.3',
      'transcript_receiver_delivery_duration_seconds_sum{phase="acknowledge"} 0.004',
    ]);
  });

  it('reads state at each scrape', async () => {
    expect(await samples('ready')).toEqual(['transcript_receiver_ready 0']);
    let used = 5;
    metrics.store.watchBudget(() => ({ size: 64, used, waiters: 2 }));
    metrics.process.watchHealth(() => ({ ready: true, draining: false, lastSuccessAt: 7000 }));
    metrics.deliveries.watchInFlight(() => 3);
    used = 6;
    expect(await samples('memory_budget_')).toEqual([
      'transcript_receiver_memory_budget_bytes 64',
      'transcript_receiver_memory_budget_used_bytes 6',
      'transcript_receiver_memory_budget_waiters 2',
    ]);
    expect(await samples('ready')).toEqual(['transcript_receiver_ready 1']);
    expect(await samples('canary_last_success')).toEqual([
      'transcript_receiver_canary_last_success_timestamp_seconds 7',
    ]);
    expect(await samples('deliveries_in_flight')).toEqual(['transcript_receiver_deliveries_in_flight 3']);
  });

  it('tells the last run of reconcile from the last one without failures', async () => {
    metrics.recovery.finished(true);
    now += 30_000;
    metrics.recovery.finished(false);
    expect(await samples('recovery_last_')).toEqual([
      'transcript_receiver_recovery_last_run_timestamp_seconds 1030',
      'transcript_receiver_recovery_last_success_timestamp_seconds 1000',
    ]);
  });

  it('has no recorder that nothing calls', () => {
    const callers = [...readSources()].filter(([file]) => !file.startsWith('observe/metrics/'));
    const calls = new Set(callers.flatMap(([, text]) => text.match(/(?<=\.)\w+/g) ?? []));
    const groups = Object.values(metrics).filter((group) => typeof group === 'object');
    const recorders = groups.flatMap((group) => Object.keys(group));
    expect(recorders.length).toBeGreaterThan(20);
    expect(recorders.filter((name) => !calls.has(name))).toEqual([]);
  });

  it('explains each metric, all of which begin with the name of the product', async () => {
    const described = await metrics.describe();
    expect(described.length).toBeGreaterThan(30);
    const poor = described.filter(
      ({ name, help }) => !name.startsWith('transcript_receiver_') || !/\w+ \w+ \w+/.test(help),
    );
    expect(poor).toEqual([]);
  });
});
