import type { LedgerLine } from '../domain/delivery.js';
import type { Problem } from '../domain/problem.js';
import { peerAddress } from '../lib/text/ip-address.js';
import type { BoundedLog } from '../observe/bounded-log.js';
import { errorText } from '../observe/error-text.js';
import type { Logger } from '../observe/logger.js';
import type { DeliveryMetrics } from '../observe/metrics/delivery-metrics.js';
import type { LedgerMetrics } from '../observe/metrics/ledger-metrics.js';
import type { LogRefusal } from '../observe/refusal-log.js';
import type { RefusalRing } from '../observe/refusal-ring.js';
import { isTestQuery } from './access/callback-query.js';
import type { ReceiverObserver } from './receive.js';

interface ReportTargets {
  readonly deliveries: DeliveryMetrics;
  readonly ledger: LedgerMetrics;
  readonly log: Logger;
  readonly bounded: Pick<BoundedLog, 'write'>;
  readonly logRefusal: LogRefusal;
  readonly refusals: RefusalRing;
}

/** Reports the work of the receiver to metrics, log and the ring of refusals. */
export function createDeliveryReport(targets: ReportTargets): ReceiverObserver {
  const { deliveries, ledger, bounded, refusals } = targets;
  // Without redaction: the fields of a delivery are known and contain no secrets, and pino clones each object that it redacts.
  const log = targets.log.child({}, { redact: [] });

  function count(line: LedgerLine): void {
    deliveries.delivered(line);
    if (line.wouldRefuse !== undefined) deliveries.wouldRefuse(line.wouldRefuse, line.source);
  }

  return {
    delivered(line, phases) {
      count(line);
      deliveries.timed(phases);
      if (line.outcome === 'quarantined') ledger.quarantine('kept');
      log.info(fieldsOf(line), line.outcome);
    },
    refused(line, problem) {
      count(line);
      deliveries.refused(problem?.code ?? 'body-incomplete', line.source);
      if (problem?.code === 'body-malformed') ledger.quarantine('refused');
      logRefusal(log, line, problem);
    },
    unauthenticated({ problem, source, clientIp, cause, ...caller }, request) {
      const reason = problem.code;
      const isFromSender = caller.isFromSender && !isTestQuery(request.rawQuery);
      const userAgent = request.headers['user-agent']?.[0] ?? null;
      deliveries.refused(reason, source, isFromSender ? 'sender' : 'unknown');
      const forwardedFor = request.headers['x-forwarded-for']?.join(', ') ?? null;
      const peer = peerAddress(request.peer);
      const at = new Date().toISOString();
      const wrong = cause === null ? null : (`credential-${cause}` as const);
      const refusal = { at, source, clientIp, reason, cause: wrong, userAgent, peer, forwardedFor };
      refusals.add(refusal, isFromSender);
      targets.logRefusal({ reason, source, clientIp, detail: cause ?? problem.message });
    },
    refusalUnrecorded(line, error) {
      const { deliveryId } = line;
      // Bounded, because a failing store or a wrong clock loses the line of every refusal.
      bounded.write('refusal-unrecorded', () =>
        log.warn({ event: 'refusal-unrecorded', deliveryId, cause: errorText(error) }, 'ledger line lost'),
      );
    },
  };
}

function logRefusal(log: Logger, line: LedgerLine, problem: Problem | null): void {
  if (problem === null) return log.info(fieldsOf(line), line.outcome);
  const fields = { ...fieldsOf(line), detail: problem.message };
  if (problem.status < 500) return log.warn(fields, 'refused');
  // Without a stack, which would be the same in each of the many lines of an outage.
  log.error({ ...fields, cause: errorText(problem.cause) }, 'refused');
}

/** Fields of the log line of a delivery: those of the ledger line, sizes in bytes, times in milliseconds. */
function fieldsOf(line: LedgerLine) {
  return {
    event: 'delivery',
    deliveryId: line.deliveryId,
    origin: line.origin,
    source: line.source,
    region: line.region,
    clientIp: line.clientIp,
    method: line.method,
    jobId: line.jobId,
    status: line.status,
    credential: line.credential,
    outcome: line.outcome,
    reason: line.reason,
    items: line.items.length,
    bytes: line.bytes,
    durationMs: line.durationMs,
    wouldRefuse: line.wouldRefuse,
    contextOmitted: line.contextOmitted,
  };
}
