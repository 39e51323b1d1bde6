import { expect, it } from '@jest/globals';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import type { StartIndex } from '../../../../src/index/fill/open-index-of-store.js';
import { createLedgerView, type LedgerView } from '../../../../src/index/ledger-view.js';
import { findSummary } from '../../../../src/index/questions/find-summary.js';
import { readJobLines } from '../../../../src/operations/admin/jobs/job-lines.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-31T12:00:00.000Z');

type Ask = (view: LedgerView, store: MemoryStore) => Promise<{ index: { until: string | null } }>;

it.each<[string, string, Ask]>([
  ['of deliveries', 'findLines', (view) => view.deliveries()],
  ['of a job', 'findLines findLines', (view, store) => readJobLines(store, view, 'job1', [])],
  ['of failures', 'failurePage', (view) => view.openFailures({ limit: 10, givenUpBy: NOW })],
  ['of what fails', 'failurePage', (view) => view.failingNow({ givenUpBy: NOW })],
  ['of bodies', 'findBodies', (view) => view.bodies({ limit: 10 })],
  ['of a summary', 'summarise', (view) => findSummary(view.calls, {}, NOW)],
])('an answer %s does not claim what was indexed after its questions, %s', async (_, questions, ask) => {
  const store = createMemoryStore(undefined, () => NOW);
  putSegment(store, '2026-03-31T10:00:00.000Z', [ledgerLine({ jobId: 'job1' })]);
  const asked: string[] = [];
  const startIndex: StartIndex = async (...given) => {
    const index = await indexInThread(...given);
    return {
      ...index,
      async call(name, ...values) {
        const answer = await index.call(name, ...values);
        if (questions.includes(name)) asked.push(name);
        if (asked.join(' ') === questions && name === asked.at(-1)) await view.refresh();
        return answer;
      },
    };
  };
  const view = createLedgerView({ store, clock: () => NOW, startIndex });
  expect((await ask(view, store)).index.until).toBeNull();
  expect(asked.join(' ')).toBe(questions);
  expect((await ask(view, store)).index.until).not.toBeNull();
  await view.stop();
});
