import { unseen } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import { status } from '../../lib/elements/status.js';
import { ago } from '../../lib/text/format.js';
import { healthTiles } from './health-tiles.js';
import { isPartlyRead } from './tile-parts.js';

/** @import { Health } from '../../lib/api/api-answers.js' */
/** @import { Action } from './tile-parts.js' */
/** @import { Tile } from './health-tiles.js' */

/**
 * @param at when the receiver last answered; null while it answers. Tiles then show no current state
 * @param {Health} health @param {number} now @param {string | null} at
 */
export function tilesSection(health, now, at) {
  /** @param {Tile} facts @returns {Tile} */
  const shown = (facts) => (at === null ? facts : { ...facts, tone: 'neutral', word: `Last seen ${at}` });
  const isWell = at === null && health.verdict.level === 'ok';
  return h(
    'section',
    { 'aria-label': 'Facts behind the verdict', 'data-key': 'tiles' },
    h(
      'details',
      // Not the same element, so that the facts open when the verdict turns.
      { 'data-key': isWell ? 'well' : 'to-look-at', open: !isWell },
      h('summary', {}, 'Facts behind the verdict'),
      h('ul', { class: 'tiles' }, healthTiles(health, now).map(shown).map(tile), regionsTile(health, now)),
    ),
  );
}

/** @param {Tile} tile */
function tile({ id, title, tone, word, figure, details, action }) {
  return h(
    'li',
    { class: `tile ${tone}`, 'data-key': id },
    h('h2', {}, title),
    status(tone, word),
    h('p', { class: 'figure' }, figure),
    details.map((text) => h('p', { class: 'detail' }, text)),
    tileAction(title, action),
  );
}

/** @param {string} title @param {Action} action */
function tileAction(title, { href, text }) {
  return h('p', { class: 'action' }, link(href, text, unseen(`: ${title}`)));
}

/** @param {Health} health @param {number} now */
function regionsTile({ regions, noRegion, unknown, verdict, scope }, now) {
  // A token for only some sources does not see facts about all.
  if (scope !== null) return null;
  const isUnknown = unknown.regions !== undefined || isPartlyRead(verdict);
  const never = isUnknown ? 'unknown' : 'nothing yet';
  /** @param {string | null} at */
  const when = (at) => h('span', { class: 'quiet' }, at === null ? never : ago(at, now));
  const others = noRegion?.lastDeliveryAt ?? null;
  return h(
    'li',
    { class: 'tile wide', 'data-key': 'regions' },
    h('h2', {}, 'Last callback by region'),
    h(
      'ul',
      { class: 'regions' },
      regions.map(({ region, lastDeliveryAt }) =>
        h(
          'li',
          { 'data-key': region },
          link(`#/deliveries?region=${encodeURIComponent(region)}`, region),
          when(lastDeliveryAt),
        ),
      ),
      (others !== null || regions.length === 0) &&
        h('li', { 'data-key': 'none' }, 'other addresses', when(others)),
    ),
    tileAction('Last callback by region', { href: '#/help/regions', text: 'What this means' }),
  );
}
