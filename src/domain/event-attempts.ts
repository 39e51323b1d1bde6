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

/** The same of a cause, whose code is a status or the code of what failed. */
export function describeLastAttempt(code: string, answer: string | null): string {
  const isStatus = /^\d+$/.test(code);
  return describeAttempt({
    status: isStatus ? Number(code) : null,
    error: isStatus ? null : code,
    answer: answer ?? undefined,
  });
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

/** When an event that waits is sent again: "due", "after the pause", or its own time. */
export function describeNextAttempt(nextTryAt: string, pausedUntil: string | null, now: number): string {
  const next = Date.parse(nextTryAt);
  if (pausedUntil !== null && Date.parse(pausedUntil) > Math.max(next, now)) return 'after the pause';
  return next > now ? nextTryAt : 'due';
}

/** The events that are not sent, as far as they are known: "2 wait for a retry, at least 10 are not tried yet". */
export function describeUnsent({
  retrying,
  untried,
  unread,
}: {
  readonly retrying: number;
  readonly untried: number;
  readonly unread: boolean;
}): string {
  const parts = [
    ...(retrying > 0 ? [`${retrying} ${retrying === 1 ? 'waits' : 'wait'} for a retry`] : []),
    ...(untried > 0
      ? [
          `${unread ? 'at least ' : ''}${untried.toLocaleString('en')} ${untried === 1 ? 'is' : 'are'} not tried yet`,
        ]
      : []),
    ...(untried === 0 && unread ? ['new ones may not be read yet'] : []),
  ];
  return parts.length === 0 ? 'none waits' : parts.join(', ');
}

/** Dead events of a subscriber are counted up to this number. */
export const MOST_DEAD_COUNTED = 1000;

/** How many events could not be sent, as far as they were counted, to begin a sentence: "3 events", "At least 1,000 events". */
export function describeDead(dead: number): string {
  const words = `${dead.toLocaleString('en')} ${dead === 1 ? 'event' : 'events'}`;
  return dead >= MOST_DEAD_COUNTED ? `At least ${words}` : words;
}
