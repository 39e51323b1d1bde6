import type { Clock } from '../lib/time/clock.js';
import type { Credentials } from './http/transport.js';
import type { KeysClient, TemporaryKeyOrder } from './keys-client.js';

/** A key is renewed when a fifth of its lifetime remains, at most a minute. */
const RENEWAL_SHARE = 0.2;
const RENEWAL_MAX_MS = 60_000;

/** Shortest time between replacements of rejected keys: a lasting 401 must not create a key per request. */
const REPLACEMENT_INTERVAL_MS = 60_000;

interface HeldKey {
  readonly token: string;
  readonly renewAt: number;
  readonly expiresAt: number;
}

/**
 * Temporary keys, each renewed before it expires. Concurrent callers share one renewal. While the current key is valid,
 * a failed renewal is not an error. A rejected key is replaced; when the replacement is rejected too, no further key is
 * created for a while.
 */
export function temporaryKeyCredentials(
  keys: KeysClient,
  order: TemporaryKeyOrder,
  clock: Clock,
): Credentials {
  let held: HeldKey | null = null;
  let renewal: Promise<HeldKey> | null = null;
  let replacedAt = Number.NEGATIVE_INFINITY;

  const renew = (): Promise<HeldKey> => {
    renewal ??= issue(keys, order, clock)
      .then((key) => {
        held = key;
        return key;
      })
      .finally(() => {
        renewal = null;
      });
    return renewal;
  };

  return {
    async token(signal) {
      const current = held;
      if (current && clock.now() < current.renewAt) return current.token;
      try {
        return (await orAborted(renew(), signal)).token;
      } catch (error) {
        if (current && held === current && clock.now() < current.expiresAt) return current.token;
        throw error;
      }
    },
    rejected(token) {
      if (held?.token !== token) return true;
      if (clock.now() - replacedAt < REPLACEMENT_INTERVAL_MS) return false;
      replacedAt = clock.now();
      held = null;
      return true;
    },
  };
}

/** The lifetime starts before the request by our clock, so that the service's clock may differ. */
async function issue(keys: KeysClient, order: TemporaryKeyOrder, clock: Clock): Promise<HeldKey> {
  const asked = clock.now();
  const { value } = await keys.create(order);
  const lifetime = order.ttlSeconds * 1000;
  const expiresAt = asked + lifetime;
  return {
    token: value,
    expiresAt,
    renewAt: expiresAt - Math.min(RENEWAL_MAX_MS, lifetime * RENEWAL_SHARE),
  };
}

/** Rejects early for a caller that aborts; the renewal continues for the others. */
function orAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
