import { may } from '../../lib/api/session.js';
import { count, span } from '../../lib/text/format.js';

/** @import { Health } from '../../lib/api/api-answers.js' */
/** @import { Tile } from './health-tiles.js' */

/** Seconds; as in the verdict. */
export const LAGGING = 15 * 60;

/**
 * Null while no subscriber is configured.
 * @param {Pick<Health, 'subscribers'>} health @returns {Tile | null}
 */
export function subscribersTile({ subscribers }) {
  const tile = { id: 'subscribers', title: 'Subscribers' };
  // Unknown: `healthTiles` says why.
  if (subscribers === null) return { ...tile, tone: 'neutral', word: 'Unknown', figure: '–', details: [] };
  if (subscribers.length === 0) return null;
  const dead = subscribers.reduce((sum, one) => sum + one.dead, 0);
  const unreachable = subscribers.filter(({ breaker }) => breaker === 'open').length;
  const lag = Math.max(...subscribers.map(({ lagSeconds }) => lagSeconds));
  const troubles = [
    unreachable > 0 && `${count(unreachable)} not reachable`,
    dead > 0 && 'Events not sent',
    lag > LAGGING && 'Lagging',
  ].filter((text) => typeof text === 'string');
  return {
    ...tile,
    tone: troubles.length > 0 ? 'notice' : 'good',
    word: troubles[0] ?? 'Up to date',
    figure: count(subscribers.length),
    details: [
      lag === 0 ? 'Every event was sent' : `The oldest event waits for ${span(lag * 1000)}`,
      ...(dead > 0 ? [`${count(dead, 'event')} could not be sent`] : []),
    ],
    action: { href: '#/subscribers', text: dead > 0 && may('repair') ? 'Inspect and send again' : 'Show' },
  };
}
