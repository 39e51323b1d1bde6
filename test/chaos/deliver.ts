import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, type Acknowledgement, countAnswer } from './account.js';
import type { Callback, Spoiling } from './callbacks.js';
import { type Answer, send } from './send.js';

export interface DeliverOptions {
  /** Addresses of the replicas; attempts go to them in turn. */
  readonly addresses: readonly string[];
  /** The same without a proxy between. */
  readonly ownAddresses: readonly string[];
  readonly token: string;
  /** True once nothing disturbs any more: then every good callback must get through. */
  readonly isCalm: () => boolean;
}

/** Sends callbacks and keeps the account of what was sent and answered. */
export interface Deliverer {
  /** Retries like the service until it is acknowledged, or refused for good. */
  bringAcross(callback: Callback, turn: number): Promise<void>;
  /** One attempt; true when there is nothing more to do for this callback. */
  attempt(callback: Callback, turn: number, spoiling: Spoiling): Promise<boolean>;
  /** Takes the answer to an attempt that was made elsewhere. */
  take(callback: Callback, answer: Answer | null, deserved: boolean): boolean;
}

/** Attempts in calm weather, while no other callback gets through either, before one counts as given up. */
const CALM_ATTEMPTS = 20;

export function createDeliverer(options: DeliverOptions, account: Account): Deliverer {
  async function attempt(callback: Callback, turn: number, spoiling: Spoiling): Promise<boolean> {
    // A proxy in this process would be busy for seconds with each body of tiny chunks, and hold up all others.
    const addresses = spoiling === 'crumbs' ? options.ownAddresses : options.addresses;
    const address = addresses[turn % addresses.length] ?? '';
    const isWhole = ['none', 'drip', 'crumbs', 'chunked'].includes(spoiling) || callback.body.length < 2;
    if (isWhole) account.whole.add(callback);
    const answer = await send(address, callback, spoiling, options.token);
    return take(callback, answer, isWhole && spoiling !== 'wrong-credential');
  }

  function take(callback: Callback, answer: Answer | null, deserved: boolean): boolean {
    countAnswer(account, answer === null ? 'none' : `${answer.status}`);
    if (answer === null) return false;
    if (answer.status >= 200 && answer.status < 300) {
      takeAcknowledgement(account, callback, answer, deserved);
      return true;
    }
    // Trouble of the receiver's own is a 503, which says when to come again.
    if (answer.status === 500) account.oddities.push(`${callback.jobId}: 500 ${answer.body.slice(0, 200)}`);
    // A malformed body is refused for good when it is not kept; everything else is worth another try.
    return callback.malformed && answer.status === 400;
  }

  return {
    attempt,
    take,
    async bringAcross(callback, turn) {
      for (let tries = 0, calm = 0; calm < CALM_ATTEMPTS; tries += 1) {
        const taken = account.acknowledged.length;
        const spoiling = callback.spoilings[Math.min(tries, callback.spoilings.length - 1)] ?? 'none';
        if (await attempt(callback, turn + tries, spoiling)) return;
        await sleep(200 + 100 * Math.min(tries, 10));
        if (options.isCalm() && account.acknowledged.length === taken) calm += 1;
      }
      if (!callback.malformed) account.givenUp.push(callback);
    },
  };
}

function takeAcknowledgement(
  account: Account,
  callback: Callback,
  { status, body }: Answer,
  deserved: boolean,
): void {
  if (!deserved) account.oddities.push(`${callback.jobId}: ${status} for a body that was not sent whole`);
  try {
    account.acknowledged.push({ callback, acknowledgement: JSON.parse(body) as Acknowledgement });
  } catch {
    account.oddities.push(`${callback.jobId}: ${status} with a body that is no JSON`);
  }
}
