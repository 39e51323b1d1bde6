import { ACCESS_ORIGIN, type LedgerItem, type LedgerLine } from '../../../domain/delivery.js';
import type { ReasonCode } from '../../../domain/reasons.js';
import { ledgerLine, NO_DELIVERY, newDeliveryId } from '../../../ledger/ledger-line.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import { peerAddress } from '../../../lib/text/ip-address.js';
import type { Access } from './access.js';
import type { FailedSignIn } from './sign-in.js';

/** Content that is about to be shown. */
export interface ContentRead {
  readonly access: Pick<Access, 'actor'>;
  /** Address of the client as its socket has it; undefined when the connection has ended already. */
  readonly peer: string | undefined;
  readonly jobId: string;
  readonly source: string | null;
  /** Null for a ticket, which opens all artefacts of the job. */
  readonly item: Omit<LedgerItem, 'outcome'> | null;
}

/** A check of a credential by an operator. */
export interface CredentialCheck {
  readonly access: Access;
  readonly peer: ContentRead['peer'];
  readonly source: string;
  /** Whether it is a valid credential of the source. */
  readonly passed: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Bounds deduplication: further reads get a line each, further sign-ins of the hour get none. */
const MAX_REMEMBERED = 10_000;

/** Records accesses to content, checks of credentials and sign-ins of the admin port in the ledger. */
export function createAccessLedger(ledger: Pick<Ledger, 'append'>) {
  const reads = createOncePer(MINUTE);
  const signIns = createOncePer(HOUR);
  const failures = createOncePer(MINUTE);

  return {
    /**
     * Resolves once the ledger has a line of this read. Rejects with `StoreError` when it cannot be written: the content must then not be
     * shown. Reads of the same item with the same token from the same address share a line for a minute, because a player requests many
     * ranges.
     */
    read({ access: { actor }, peer, jobId, source, item }: ContentRead): Promise<void> {
      const name = [actor, peer ?? '', jobId, item?.key ?? ''].join('\n');
      return reads.once(name, () =>
        ledger.append(
          accessLine({
            jobId,
            source,
            actor,
            peer,
            outcome: 'read',
            method: item === null ? 'POST' : 'GET',
            reason: item === null ? 'ticket' : null,
            items: item === null ? [] : [{ ...item, outcome: 'read' }],
          }),
        ),
      );
    },
    /** Resolves once the ledger has a line of this check. Rejects with `StoreError`: the result must then not be shown. */
    credentialChecked: ({ access: { actor }, peer, source, passed }: CredentialCheck) =>
      ledger.append(
        accessLine({
          actor,
          source,
          peer,
          method: 'POST',
          outcome: 'credential-checked',
          reason: passed ? null : 'credential-invalid',
        }),
      ),
    /** Records the first use of a token from an address within an hour. Never rejects: it must not delay anything. */
    signedIn({ actor }: Access, peer: ContentRead['peer']): void {
      // A client with one token can use any number of addresses.
      if (signIns.isFull()) return;
      const line = { actor, peer, outcome: 'signed-in' };
      signIns
        .once(`${actor}\n${peer}`, () => ledger.append(accessLine(line)))
        .catch(() => {
          // The store is down; the next request retries.
        });
    },
    /** Records at most one failure a minute of each cause, so that unauthenticated clients cannot fill the ledger. */
    signInFailed({ cause, peer }: Pick<FailedSignIn, 'cause' | 'peer'>): void {
      // Not an attempt: the page makes a request without a token before a sign-in.
      if (cause === 'missing') return;
      const line = {
        peer: peer ?? undefined,
        reason: `sign-in-${cause}` as const,
        outcome: 'sign-in-failed',
      };
      failures
        .once(cause, () => ledger.append(accessLine(line)))
        .catch(() => {
          // Log and metrics have recorded it.
        });
    },
  };
}

/**
 * Runs work once per name and period; failed work is repeated. Uses a monotonic clock, so that a system clock that is set back does not
 * extend the period.
 */
function createOncePer(period: number) {
  let begun = Number.NEGATIVE_INFINITY;
  let done = new Map<string, Promise<void>>();
  return {
    isFull: () => done.size >= MAX_REMEMBERED && performance.now() - begun < period,
    once(name: string, work: () => Promise<void>): Promise<void> {
      if (performance.now() - begun >= period) {
        begun = performance.now();
        done = new Map();
      }
      const known = done.get(name);
      if (known !== undefined) return known;
      const current = done;
      const doing = work().catch((error: unknown) => {
        current.delete(name);
        throw error;
      });
      if (done.size < MAX_REMEMBERED) done.set(name, doing);
      return doing;
    },
  };
}

type AccessFields = Pick<LedgerLine, 'outcome'> &
  Pick<ContentRead, 'peer'> &
  Partial<Pick<LedgerLine, 'jobId' | 'source' | 'method' | 'items' | 'actor'>> & {
    readonly reason?: ReasonCode | null;
  };

function accessLine({ actor, peer, ...fields }: AccessFields): LedgerLine {
  const now = Date.now();
  return ledgerLine({
    ...NO_DELIVERY,
    deliveryId: newDeliveryId(now),
    receivedAt: new Date(now).toISOString(),
    origin: ACCESS_ORIGIN,
    ...fields,
    actor: actor ?? null,
    clientIp: peerAddress(peer),
  });
}
