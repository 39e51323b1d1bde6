// Loaded by the dashboard as well: whatever this module imports must run in a browser.

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

/** Why a subscriber is sent nothing, or one event at a time; null while it is not paused. */
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
 * @param isAll whether the index has all lines behind which an event could wait
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

/** What became of an event for a subscriber. */
export interface ToldEvent {
  readonly outcome: 'delivered' | 'rejected' | 'expired' | 'dropped' | 'waiting' | 'untried' | 'unknown';
  /** ISO 8601: the attempt that says so; null without one. */
  readonly at: string | null;
  readonly status: number | null;
  readonly error: string | null;
  /** How often it was tried. */
  readonly attempts: number;
  /** Attempts of an event that waits, oldest first. */
  readonly history: readonly { readonly answer?: string | undefined }[];
}

/**
 * What became of an event, as page and command line say it: "told at 11:22, 200, 1st attempt".
 *
 * @param time shows an instant (ISO 8601)
 */
export function describeTold(
  { outcome, at, status, error, attempts, history }: ToldEvent,
  time: (instant: string) => string = String,
): string {
  const answer = status === null ? `no answer: ${error ?? 'unknown'}` : String(status);
  const tried = `${answer}${at === null ? '' : ` at ${time(at)}`}, ${ordinal(attempts)} attempt`;
  const said = history.at(-1)?.answer;
  switch (outcome) {
    case 'delivered':
      return `told${at === null ? '' : ` at ${time(at)}`}, ${answer}, ${ordinal(attempts)} attempt`;
    case 'waiting':
      return `not told yet: ${tried}${said === undefined ? '' : `: “${said}”`}`;
    case 'rejected':
      return `not told, the answer was final: ${tried}`;
    case 'expired':
      return `not told, it failed for 24 hours: ${tried}`;
    case 'dropped':
      return 'not told: the job was erased before';
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
