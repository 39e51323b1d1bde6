import type { Trouble } from '../api/answers/health.js';
import type { Subscriber } from '../api/answers/subscribers.js';

/** What the verdict knows of a subscriber. */
export type SubscriberFacts = Pick<Subscriber, 'name' | 'lagSeconds' | 'dead' | 'lastError'>;

/** Seconds. Retries of single events take minutes; an address that is down for longer needs people. */
export const LAGGING = 15 * 60;

export function subscriberTroubles(subscribers: readonly SubscriberFacts[]): Trouble[] {
  return subscribers.flatMap(({ name, lagSeconds, dead, lastError }) => {
    const troubles: Trouble[] = [];
    if (lagSeconds > LAGGING) {
      troubles.push({
        level: 'warning',
        topic: 'subscribers',
        problem: `subscriber-lagging:${name}`,
        text: `Events for ${name} wait for ${durationInWords(lagSeconds)}${errorInWords(lastError)}.`,
      });
    }
    if (dead > 0) {
      troubles.push({
        level: 'warning',
        topic: 'subscribers',
        problem: `events-dead:${name}`,
        text: `${dead === 1 ? '1 event' : `${dead} events`} for ${name} could not be sent and wait for a replay.`,
      });
    }
    return troubles;
  });
}

function errorInWords(error: SubscriberFacts['lastError']): string {
  if (error === null) return '';
  return error.status === null
    ? `; the last attempt failed: ${error.error}`
    : `; it answered ${error.status} last`;
}

function durationInWords(seconds: number): string {
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} minutes`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)} hours` : `${Math.floor(seconds / 86_400)} days`;
}
