import { S3Failure } from '../s3-failure.js';

/** S3 rejects requests signed more than 15 minutes away from its own time. */
const SKEWED = new Set(['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture']);

/** The one of these codes that is retried. */
const RETRIED = 'RequestTimeTooSkewed';

/** Below this difference the clock is not the reason for the rejection. */
const WORTH_CORRECTING_MS = 60_000;

/** The time that requests are signed with: this machine's, until the server rejects it. */
export interface ServerClock {
  /** Milliseconds that are added to this machine's time. */
  readonly offset: number;
  /** Milliseconds by which the server's clock was ahead of this machine's at its last answer; 0 before the first. */
  readonly ahead: number;
  /** Takes the `Date` of an answer. */
  observe(date: string | undefined): void;
  /**
   * Corrects the offset after a request failed. Returns the failure to report, which is retried when another attempt would be signed
   * with a different time.
   *
   * @param used the offset that it was signed with
   */
  corrected(failure: S3Failure, used: number): S3Failure;
}

/** @param onNotice called with a message each time the clock is corrected; the correction stays */
export function createServerClock(onNotice?: (message: string) => void): ServerClock {
  let offset = 0;
  let ahead = 0;
  let observed = '';

  function observe(date = ''): void {
    // A busy replica gets hundreds of answers in a second.
    if (date === observed) return;
    observed = date;
    const time = Date.parse(date);
    if (!Number.isNaN(time)) ahead = time - Date.now();
  }

  function correct({ code, serverTime }: S3Failure, used: number): boolean {
    if (serverTime !== null) ahead = serverTime - Date.now();
    if (!SKEWED.has(code)) return false;
    if (offset !== used) return true;
    const found = serverTime === null ? used : serverTime - Date.now();
    if (Math.abs(found - used) < WORTH_CORRECTING_MS) return false;
    offset = found;
    const seconds = Math.round(Math.abs(found) / 1000);
    onNotice?.(
      `this machine's clock is ${seconds} s ${found < 0 ? 'ahead of' : 'behind'} the store's; ` +
        "requests are signed with the store's time from now on. Set the clock: the ledger is not written with one that is more than " +
        'five minutes off, and credentials depend on it.',
    );
    return true;
  }

  return {
    get offset() {
      return offset;
    },
    get ahead() {
      return ahead;
    },
    observe,
    corrected: (failure, used) =>
      correct(failure, used) ? new S3Failure({ ...failure, code: RETRIED }) : failure,
  };
}
