// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import type { EventEnd } from './sent-attempt.js';

/** An attempt to send an event, as people read it: "Answered 503: “busy”", "No answer: timeout". */
export function describeAttempt({
  status,
  error,
  answer,
}: {
  readonly status: number | null;
  readonly error: string | null;
  readonly answer?: string | undefined;
}): string {
  if (status === null) return `No answer: ${error ?? 'unknown'}`;
  return answer === undefined ? `Answered ${status}` : `Answered ${status}: “${answer}”`;
}

/** Why events for a subscriber are held back or sent one at a time; null while it is not paused. */
export function describePause(
  { openSince, pausedUntil }: { readonly openSince: string | null; readonly pausedUntil: string | null },
  now: number,
): string | null {
  if (openSince === null) return null;
  const next = 'one event at a time is tried until one is accepted';
  if (pausedUntil === null || Date.parse(pausedUntil) <= now) return `Paused since ${openSince}: ${next}`;
  return `Paused since ${openSince} until ${pausedUntil}, then ${next}`;
}

/**
 * The events that are not sent: "2 wait for a retry, 10 are not tried yet".
 *
 * @param isAll whether the index has every line whose event could be unsent
 */
export function describeUnsent(
  { retrying, untried }: { readonly retrying: number; readonly untried: number },
  isAll: boolean,
): string {
  const parts = [
    ...(retrying > 0 ? [`${retrying} ${retrying === 1 ? 'waits' : 'wait'} for a retry`] : []),
    ...(untried > 0 ? [`${untried.toLocaleString('en')} ${untried === 1 ? 'is' : 'are'} not tried yet`] : []),
  ];
  if (parts.length > 0) return parts.join(', ');
  return isAll ? 'none waits' : 'whether one waits is unknown';
}

/** How many events could not be sent, to begin a sentence: "3 events". */
export function describeDead(dead: number): string {
  return `${dead.toLocaleString('en')} ${dead === 1 ? 'event' : 'events'}`;
}

/** The delivery of an event to a subscriber. */
export interface EventDelivery {
  readonly outcome: EventEnd | 'waiting' | 'untried' | 'unknown';
  /** ISO 8601, of the attempt that decided the outcome, else of the last one; null without one. */
  readonly at: string | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly attempts: number;
  /** Attempts of a waiting event, oldest first. */
  readonly history: readonly { readonly answer?: string | undefined }[];
}

/**
 * The delivery of an event, as page and command line describe it: "delivered at 11:22, 200, 1st attempt".
 *
 * @param time shows an instant (ISO 8601)
 */
export function describeDelivery(
  { outcome, at, status, error, attempts, history }: EventDelivery,
  time: (instant: string) => string = String,
): string {
  const answer = status === null ? `no answer: ${error ?? 'unknown'}` : String(status);
  const when = at === null ? '' : ` at ${time(at)}`;
  const lastAttempt = `${answer}${when}, ${ordinal(attempts)} attempt`;
  const lastAnswer = history.at(-1)?.answer;
  switch (outcome) {
    case 'delivered':
      return `delivered${when}, ${answer}, ${ordinal(attempts)} attempt`;
    case 'waiting':
      return `not delivered yet: ${lastAttempt}${lastAnswer === undefined ? '' : `: “${lastAnswer}”`}`;
    case 'rejected':
      return `not delivered, the answer was final: ${lastAttempt}`;
    case 'expired':
      return `not delivered, it failed for 24 hours: ${lastAttempt}`;
    case 'failed':
      return `not delivered, a replay tried it once: ${lastAttempt}`;
    case 'dropped':
      return 'not delivered: the job was erased before';
    case 'untried':
      return 'not tried yet';
    case 'unknown':
      return 'unknown: no attempt is on record';
  }
}

function ordinal(count: number): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13;
  return `${count}${(isTeen ? null : ['th', 'st', 'nd', 'rd'][count % 10]) ?? 'th'}`;
}
