import type { SignInMetrics } from '../../../observe/metrics/sign-in-metrics.js';
import type { RefusalLog } from '../../../observe/refusal-log.js';
import type { RefusalRing } from '../../../observe/refusal-ring.js';
import type { FailedSignIn } from './sign-in.js';

export interface SignInReportTargets {
  readonly metrics: SignInMetrics;
  readonly refusalLog: Pick<RefusalLog, 'refused'>;
  readonly refusals: Pick<RefusalRing, 'add'>;
}

/** Reports failed sign-ins to metrics, the log and the list of refusals. */
export function reportSignIns(targets: SignInReportTargets): (failure: FailedSignIn) => void {
  return ({ cause, peer, userAgent }) => {
    const reason = `sign-in-${cause}` as const;
    targets.metrics.failed(cause);
    targets.refusals.add({
      at: new Date().toISOString(),
      source: null,
      clientIp: peer,
      reason,
      cause: null,
      userAgent,
      peer: null,
      forwardedFor: null,
    });
    targets.refusalLog.refused({ reason, source: null, clientIp: peer });
  };
}
