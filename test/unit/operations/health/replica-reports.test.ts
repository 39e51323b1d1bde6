import { describe, expect, it } from '@jest/globals';
import {
  issuesInScope,
  issuesOfReplicas,
  issuesOfReports,
} from '../../../../src/operations/health/replica-issues.js';
import {
  createReplicaReportsReader,
  hasProof,
  isFirstReplica,
} from '../../../../src/operations/health/replica-reports.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const CLOCK = { code: 'clock', params: { replica: 'a', offsetMs: 960_000 } };
const DENIED = {
  code: 'store-denied',
  params: {
    prefix: 'jobs/',
    sources: ['x', 'y'],
    reason: 'denied',
    condition: 'denied',
    since: '2026-11-20T12:00:00Z',
  },
};

describe('what replicas report', () => {
  it('is read from the canaries that were written lately, once for all who ask', async () => {
    const now = 1_000_000;
    const store = createMemoryStore();
    store.put('.canary/a-1', JSON.stringify({ mark: '1', report: [CLOCK] }), now - 20_000);
    store.put('.canary/b-2', JSON.stringify({ mark: '2', report: [] }), now);
    store.put('.canary/dead-3', JSON.stringify({ mark: '3', report: [DENIED] }), now - 91_000);
    store.put('.canary/odd-4', 'no JSON', now);
    const read = createReplicaReportsReader(store, 10_000, () => now);
    const [{ newest, reports }, again] = await Promise.all([read(), read()]);
    expect(again.reports).toBe(reports);
    expect(newest).toEqual(new Date(now));
    expect(new Set(reports.map(({ key }) => key))).toEqual(
      new Set(['.canary/a-1', '.canary/b-2', '.canary/odd-4']),
    );
    expect(issuesOfReports(reports)).toEqual([{ topic: 'receiving', level: 'failing', ...CLOCK }]);
    expect(store.calls.filter(({ operation }) => operation === 'list')).toHaveLength(1);
  });

  it('is told to be recent by the store’s clock, which a process that has just begun knows from the listing', async () => {
    const now = 10_000_000;
    const memory = createMemoryStore();
    memory.put('.canary/a-1', JSON.stringify({ mark: '1', report: [] }), now);
    let offset = 0;
    async function* list(prefix: string) {
      yield* memory.list(prefix);
      offset = -600_000;
    }
    const store = { ...memory, list, clockOffset: () => offset };
    const { reports } = await createReplicaReportsReader(store, 10_000, () => now + 600_000)();
    expect(reports).toHaveLength(1);
  });

  it.each([-3_600_000, 3_600_000])(
    'proves the store just after it was written, where the store’s clock is %s ms ahead of this machine’s',
    (ahead) => {
      const store = { clockOffset: () => ahead };
      const isProof = (age: number) => hasProof(store, new Date(Date.now() + ahead - age), 10_000);
      expect([isProof(10_000), isProof(21_000)]).toEqual([true, false]);
    },
  );

  it('says which replica is the first; canaries of commands do not count', () => {
    const report = (key: string, issues: unknown = []) => ({ key, report: issues, writtenAt: new Date() });
    const reports = [report('.canary/a', null), report('.canary/b'), report('.canary/c')];
    const first = ['.canary/b', '.canary/c', '.canary/aa'].map((key) => isFirstReplica({ reports }, key));
    expect(first).toEqual([true, false, true]);
  });

  it('names replicas that wrote and do not any more, beside one that does', async () => {
    const now = 10_000_000;
    const store = createMemoryStore();
    const put = (name: string, age: number) => store.put(`.canary/${name}`, '{"report":[]}', now - age);
    const silent = async (own: string | null = null) =>
      issuesOfReplicas(await createReplicaReportsReader(store, 10_000, () => now)(), own).map(
        ({ code, params }) => [code, params],
      );
    put('cut-off-0a1b2c3d', 91_000);
    put('asked-0a1b2c3d', 91_000);
    put('long-dead-0a1b2c3d', 3_600_001);
    store.put('.canary/command-0a1b2c3d', '{"report":null}', now - 91_000);
    put('restarted-0a1b2c3d', 91_000);
    expect(await silent()).toEqual([]);
    put('restarted-4e5f6071', 1_000);
    expect(await silent('.canary/asked-0a1b2c3d')).toEqual([
      ['replica-silent', { replica: 'cut-off', since: new Date(now - 91_000).toISOString() }],
    ]);
  });

  it('leaves out what is no issue of a replica, or lacks a fact', () => {
    const report = [
      null,
      7,
      {},
      { code: 'constructor', params: {} },
      { code: 'jobs-failing', params: {} },
      CLOCK,
    ];
    const broken = { code: 'store-denied', params: { prefix: 'jobs/' } };
    expect(issuesOfReports([{ report: 'x' }, { report: [...report, broken] }, { report }])).toEqual([
      expect.objectContaining(CLOCK),
    ]);
  });

  it('shows a client its sources only', () => {
    const issues = issuesOfReports([{ report: [CLOCK, DENIED] }]);
    expect(issuesInScope(issues, null)).toHaveLength(2);
    expect(issuesInScope(issues, new Set(['y'])).map(({ params }) => params.sources)).toEqual([
      undefined,
      ['y'],
    ]);
    expect(issuesInScope(issues, new Set(['z'])).map(({ code }) => code)).toEqual(['clock']);
  });
});
