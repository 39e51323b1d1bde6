import { issuesOfReports } from '../../operations/health/replica-issues.js';
import { createReplicaReportsReader } from '../../operations/health/replica-reports.js';
import { describeIssue } from '../../operations/issues/describe-issue.js';
import { RUN_DOCTOR } from '../../operations/issues/issue-kinds.js';
import type { ObjectStore } from '../../store/object-store.js';
import { errorMessage, type Finding, failed, passed, skipped, warned } from './finding.js';

const CHECK = 'replicas';
/** Advice for every issue, also where the verdict sends people to this command. */
const ADVICE = 'See the log of the replica.';

/** What running replicas report of themselves: this machine may be well where theirs are not. Never throws. */
export async function checkReplicas(store: ObjectStore, interval: number): Promise<Finding[]> {
  try {
    const { reports } = await createReplicaReportsReader(store, interval)();
    if (reports.length === 0) return [skipped(CHECK, 'No receiver has written to this store lately.')];
    const issues = issuesOfReports(reports);
    if (issues.length === 0) return [passed(CHECK, 'No receiver that uses this store reports an issue.')];
    return issues.map((issue) => {
      const { text, remedy } = describeIssue(issue);
      return (issue.level === 'failing' ? failed : warned)(
        CHECK,
        text,
        remedy === null || remedy === RUN_DOCTOR ? ADVICE : remedy,
      );
    });
  } catch (error) {
    return [skipped(CHECK, `What receivers report cannot be read: ${errorMessage(error)}.`)];
  }
}
