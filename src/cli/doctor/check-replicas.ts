import { issuesOfReplicas } from '../../operations/health/replica-issues.js';
import { createReplicaReportsReader } from '../../operations/health/replica-reports.js';
import { RUN_DOCTOR } from '../../operations/issues/issue-kinds.js';
import type { ObjectStore } from '../../store/object-store.js';
import { errorMessage, type Finding, issueFound, passed, skipped } from './finding.js';

const CHECK = 'replicas';
/** Default advice, also for issues whose remedy is to run this command. */
const ADVICE = 'See the log of the replica.';

/** Issues that running replicas report of themselves: another machine may fail where this one works. Never throws. */
export async function checkReplicas(store: ObjectStore, interval: number): Promise<Finding[]> {
  try {
    const found = await createReplicaReportsReader(store, interval)();
    if (found.reports.length === 0) return [skipped(CHECK, 'No receiver has written to this store lately.')];
    const issues = issuesOfReplicas(found);
    if (issues.length === 0) return [passed(CHECK, 'No receiver that uses this store reports an issue.')];
    const adviceFor = (remedy: string | null) => (remedy === RUN_DOCTOR ? ADVICE : (remedy ?? ADVICE));
    return issues.map((issue) => issueFound(CHECK, issue, adviceFor));
  } catch (error) {
    return [skipped(CHECK, `What receivers report cannot be read: ${errorMessage(error)}.`)];
  }
}
