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

/** A credential that an operator had checked. */
export interface CredentialCheck {
  readonly access: Access;
  readonly peer: ContentRead['peer'];
  readonly source: string;
  /** Whether it is one of the source, and valid. */
  readonly passed: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Reads that are remembered at a time; further ones get a line each. Sign-ins in an hour; further ones get none. */
const MAX_REMEMBERED = 10_000;

/** Records in the ledger who used the admin port to look at content or to check a credential, and who signed in. */
export function createAccessLedger(ledger: Pick<Ledger, 'append'>) {
  const reads = createOncePer(MINUTE);
  const signIns = createOncePer(HOUR);
  const failures = createOncePer(MINUTE);

  return {
    /**
     * Resolves when the ledger holds a line of this read. Rejects with `StoreError` when it cannot be written: then nothing may be
     * shown. Reads of the same item with the same token from the same address share a line for a minute, because a player asks
     * for many ranges.
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
    /** Resolves when the ledger holds a line of this check. Rejects with `StoreError`: then the result must not be shown. */
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
          // The store is down: the next request tries again.
        });
    },
    /** Records at most one failure a minute of each cause, so that unauthenticated clients cannot fill the ledger. */
    signInFailed({ cause, peer }: Pick<FailedSignIn, 'cause' | 'peer'>): void {
      // A request without any token is no attempt: the page asks like this before a sign-in.
      if (cause === 'missing') return;
      const line = {
        peer: peer ?? undefined,
        reason: `sign-in-${cause}` as const,
        outcome: 'sign-in-failed',
      };
      failures
        .once(cause, () => ledger.append(accessLine(line)))
        .catch(() => {
          // The log and the metrics have it.
        });
    },
  };
}

/**
 * Does something once per name and period; what failed is done again. The time is monotonic: a clock that is set back ends no period later.
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
