import pLimit from 'p-limit';
import type { QuarantinedRequest } from '../../../archive/quarantine/quarantine.js';
import type { QuarantineStore } from '../../../archive/quarantine/quarantine-store.js';
import { outcomeOf } from '../../../domain/delivery.js';
import type { StoredItem } from '../../../domain/item.js';
import { type QuarantineState, settlementOf } from '../../../domain/quarantined-body.js';
import type { BodiesQuery, LedgerBody } from '../../../index/bodies/list-bodies.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { RetentionView } from '../../../recovery/retention/retention-view.js';
import type { ListedBody, QuarantineList } from '../../answers/quarantine.js';

export interface QuarantineParts {
  readonly view: Pick<LedgerView, 'bodies'>;
  readonly quarantine: Pick<QuarantineStore, 'request'>;
  readonly retained: RetentionView;
}

export interface QuarantineQuery extends Omit<BodiesQuery, 'state' | 'limit' | 'since' | 'delivery'> {
  /** Default `waiting`. */
  readonly state?: QuarantineState | 'all' | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
}

const READS_AT_ONCE = 16;

/** Quarantined bodies, newest first, without expired ones. Throws `request-invalid` for an invalid cursor. */
export async function listQuarantine(
  { view, quarantine, retained }: QuarantineParts,
  { state = 'waiting', limit = 50, ...query }: QuarantineQuery,
): Promise<QuarantineList> {
  const expiredBefore = await retained.expiredBefore();
  const { bodies, ...page } = await view.bodies({
    ...query,
    limit,
    since: expiredBefore('quarantine'),
    state: state === 'all' ? undefined : state,
  });
  const limited = pLimit(READS_AT_ONCE);
  const listed = await limited.map(bodies, async (body): Promise<ListedBody | null> => {
    query.signal?.throwIfAborted();
    const request = (await quarantine.request(body.deliveryId)) ?? requestOf(body);
    return request && { ...request, ...bodyState(body) };
  });
  return { quarantine: listed.filter((body) => body !== null), ...page };
}

export function bodyState({
  state,
  release,
  settlement,
}: Pick<LedgerBody, 'state' | 'release' | 'settlement'>): Pick<
  ListedBody,
  'state' | 'release' | 'settlement'
> {
  return {
    state,
    release: release && {
      v: 1,
      deliveryId: release.deliveryId,
      releasedAt: release.receivedAt,
      actor: release.actor ?? '',
      reason: release.reason,
      outcome: outcomeOf(release.items as readonly StoredItem[]),
      items: [...release.items] as StoredItem[],
    },
    settlement: settlement && settlementOf(settlement),
  };
}

/** The request of a body that is missing from the store, reconstructed from its line. */
function requestOf({ deliveryId, line }: LedgerBody): QuarantinedRequest | null {
  if (line === null) return null;
  const { receivedAt, source, region, clientIp, method, jobId, status, reason, bytes } = line;
  return {
    v: 1,
    deliveryId,
    receivedAt,
    region,
    clientIp,
    bytes,
    query: '',
    headers: {},
    sha256: '',
    source: source ?? '',
    method: method ?? '',
    jobId: jobId ?? '',
    status: status ?? '',
    reason: reason ?? '',
    detail: 'The body is missing from the store: refetch its job, or dismiss it.',
  };
}
