import { h, link } from '../../lib/elements/dom.js';
import { status } from '../../lib/elements/status.js';
import { ago } from '../../lib/text/format.js';
import { healthTiles, OF_ALL_SOURCES } from './health-tiles.js';

/** @import { Health } from '../../lib/api/api-answers.js' */
/** @import { Action, Tile } from './health-tiles.js' */

/**
 * @param at when the receiver last answered; null while it answers. Tiles then show no current state
 * @param {Health} health @param {number} now @param {string | null} at
 */
export function tilesSection(health, now, at) {
  /** @param {Tile & {action: Action}} facts @returns {Tile & {action: Action}} */
  const shown = (facts) => (at === null ? facts : { ...facts, tone: 'neutral', word: `Last seen ${at}` });
  const facts = healthTiles(health, now);
  const isWell = at === null && health.verdict.level === 'ok' && !facts.some(needsAttention);
  return h(
    'section',
    { 'aria-label': 'Facts behind the verdict', 'data-key': 'tiles' },
    h(
      'details',
      // Not the same element, so that the facts open when the verdict turns.
      { 'data-key': isWell ? 'well' : 'to-look-at', open: !isWell },
      h('summary', {}, 'Facts behind the verdict'),
      h('ul', { class: 'tiles' }, facts.map(shown).map(tile), regionsTile(health, now)),
    ),
  );
}

/** @param {Tile} tile */
function needsAttention({ tone }) {
  return tone === 'bad' || tone === 'notice';
}

/** @param {Tile & {action: Action}} tile */
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
  return h('p', { class: 'action' }, h('a', { href }, text, h('span', { class: 'unseen' }, `: ${title}`)));
}

/** A region that is silent for a day needs attention but is no failure: it may have no jobs. */
const SILENT = 24 * 3_600_000;

/** @param {Health} health @param {number} now */
function regionsTile({ regions, scope, unknown }, now) {
  return h(
    'li',
    { class: 'tile wide', 'data-key': 'regions' },
    h('h2', {}, 'Freshness of the regions'),
    regions.length === 0
      ? h(
          'p',
          { class: 'detail' },
          scope === null ? 'No source is bound to a region of the service.' : OF_ALL_SOURCES,
        )
      : h(
          'ul',
          { class: 'regions' },
          regions.map((region) => regionState(region, unknown.regions !== undefined, now)),
        ),
    tileAction('Freshness of the regions', {
      href: '#/help/regions',
      text: regions.some((region) => isSilent(region, now)) ? 'What to do' : 'What this means',
    }),
  );
}

/** @param {Pick<Health['regions'][number], 'lastDeliveryAt'>} region @param {number} now */
function isSilent({ lastDeliveryAt }, now) {
  return lastDeliveryAt !== null && now - Date.parse(lastDeliveryAt) > SILENT;
}

/** @param {Health['regions'][number]} region @param {boolean} isUnknown @param {number} now */
function regionState({ region, lastDeliveryAt }, isUnknown, now) {
  const silent = isSilent({ lastDeliveryAt }, now);
  const tone = lastDeliveryAt === null ? 'neutral' : silent ? 'notice' : 'good';
  const text =
    lastDeliveryAt === null
      ? isUnknown
        ? 'unknown'
        : 'nothing yet'
      : `${silent ? 'silent, last ' : ''}${ago(lastDeliveryAt, now)}`;
  return h(
    'li',
    { 'data-key': region },
    link(`#/deliveries?region=${encodeURIComponent(region)}`, region),
    status(tone, text),
  );
}
