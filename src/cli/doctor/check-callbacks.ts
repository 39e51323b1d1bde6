import { createRefusalCountsReader } from '../../archive/read-refusal-counts.js';
import { type IndexExtent, notIndexedInWords } from '../../index/index-extent.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { plural } from '../../lib/text/plural.js';
import { waitAtMost, withDeadline } from '../../lib/time/deadline.js';
import { type CallbackFacts, callbackIssues } from '../../operations/health/checks/callback-issues.js';
import { readCallbacks } from '../../operations/health/read-facts.js';
import type { ObjectStore } from '../../store/object-store.js';
import { conditionOf } from '../../store/store-condition.js';
import { remedyOf } from '../../store/store-remedies.js';
import { errorMessage, type Finding, failed, issueFound, passed, skipped } from './finding.js';

const CHECK = 'callbacks';
const ADVICE =
  'See whether ledger/ and reports/ can be listed and read, and the folder of ledger.index.path written.';
const HOUR = 3_600_000;

/** Milliseconds for reading the ledger, and again for the query. */
const TIMEOUT = 15_000;

/** The issues of callbacks of the last hour and day, as in the verdict. Never throws. */
export async function checkCallbacks(
  view: Pick<LedgerView, 'refresh' | 'callbacks' | 'extent'>,
  store: ObjectStore,
): Promise<Finding[]> {
  const senderRefusals = createRefusalCountsReader(store, Date.now).lastDay;
  try {
    // On a time-out the check continues: the newest hour is read first, and suffices while the rest of a large ledger is being read.
    await waitAtMost(TIMEOUT, view.refresh());
    const silent = `the store did not answer within ${TIMEOUT} ms`;
    const facts = await withDeadline(readCallbacks({ view, senderRefusals }, null), TIMEOUT, silent);
    return findingsOf(facts, view.extent(), Date.now());
  } catch (error) {
    const message = `The outcomes of callbacks cannot be read: ${errorMessage(error)}.`;
    const condition = conditionOf(error);
    return [failed(CHECK, message, condition === null ? ADVICE : remedyOf(condition))];
  }
}

function findingsOf(facts: CallbackFacts, index: IndexExtent, now: number): Finding[] {
  const issues = callbackIssues(facts, now);
  if (issues.length > 0)
    return issues.map((issue) => issueFound(CHECK, issue, (remedy) => remedy ?? 'See Refusals on the page.'));
  const unread = notIndexedInWords({ ...index, missing: [] }, { since: now - HOUR, until: now });
  if (unread !== null) return [skipped(CHECK, `${unread} Run transcript-receiver status.`)];
  const accepted = [...facts.accepted.values()].reduce((sum, { requests }) => sum + requests, 0);
  const message = `In the last hour ${plural(accepted, 'callback was', 'callbacks were')} accepted, and no more rejected or missed than usual.`;
  return [passed(CHECK, message)];
}
