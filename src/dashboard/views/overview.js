import { get } from '../lib/api.js';
import { elementById, h, link } from '../lib/dom.js';
import { ago, clock } from '../lib/format.js';
import { sayOnce } from '../lib/notice.js';
import { shape, status } from '../lib/status.js';
import { tilesOf } from '../lib/tiles.js';
import { lastSeen, verdictShown } from '../lib/verdict.js';
import { chartsSection, drawCharts, rangeOf } from './charts.js';
import { deliveryTable, firstCallback } from './delivery-table.js';

/** @import { GetAnswers, Health, LedgerLine, Summary, Verdict } from '../api-answers.js' */
/** @import { Screen } from '../lib/screen.js' */
/** @import { Action, Tile } from '../lib/tiles.js' */
/** @import { Banner } from '../lib/verdict.js' */

/** @typedef {{health: Health, summary: Summary, latest: GetAnswers['/deliveries']}} Seen */

/**
 * Is all well? The verdict, the facts behind it, what arrived over time, and the latest.
 * @param {Screen} screen
 */
export function overviewView(screen) {
  screen.start('Overview');
  const range = rangeOf(screen.route.query);
  /** @type {Seen | null} */
  let seen = null;
  /** @param {Seen} seen @param {string | null} [at] */
  const draw = ({ health, summary, latest }, at = null) => {
    const now = Date.parse(health.at);
    const banner = at === null ? verdictShown(health.verdict) : lastSeen(health.verdict, at);
    screen.render(
      h('h1', { class: 'unseen', tabindex: '-1', 'data-key': 'heading' }, 'Overview'),
      verdictBanner(banner, health.verdict),
      tileGrid(health, now, at),
      chartsSection(summary, range),
      latestSection(latest.deliveries, health, now),
    );
  };
  /** @param {AbortSignal} signal */
  const refresh = async (signal) => {
    const since = new Date(Date.now() - range.ms).toISOString();
    const [health, summary, latest] = await Promise.all([
      get('/health', { signal }),
      get('/summary', { query: { since, buckets: range.buckets }, signal }),
      get('/deliveries', { query: { limit: 8 }, signal }),
    ]);
    seen = { health, summary, latest };
    draw(seen);
    elementById('replica').textContent = `${health.replica} · ${health.version}`;
    drawCharts(summary, screen.signal);
  };
  screen.keepFresh(4000, refresh, () => {
    if (seen !== null) draw(seen, clock(seen.health.at));
  });
}

/** @param {string | undefined} href @param {string} about */
function wayOut(href, about) {
  if (href === undefined) return null;
  const text = href === '#/failures' ? 'Repair' : 'What to do';
  return [' ', h('a', { href }, text, h('span', { class: 'unseen' }, `: ${about}`))];
}

/** @param {Banner} banner @param {Verdict} verdict */
function verdictBanner({ tone, word, sentence, href, more }, { since, unseen }) {
  // Figures change all the time: only a change of the verdict is worth interrupting for.
  sayOnce(word);
  return h(
    'section',
    { class: `verdict ${tone}`, 'aria-label': 'Verdict', 'data-key': 'verdict' },
    shape(tone),
    h(
      'div',
      {},
      h('p', { class: 'word' }, word),
      h('p', { class: 'sentence' }, sentence, wayOut(href, sentence)),
      more.length > 0 &&
        h(
          'ul',
          {},
          more.map(({ text, href: way }) => h('li', {}, text, wayOut(way, text))),
        ),
      h('p', { class: 'looked quiet' }, scopeInWords(since, unseen)),
    ),
  );
}

/**
 * Over which time the verdict looked, and at what it did not.
 * @param {string | null} since @param {string[]} unseen
 */
function scopeInWords(since, unseen) {
  const looked =
    since === null ? 'No delivery was checked yet' : `Every delivery since ${clock(since)} was checked`;
  return unseen.length === 0 ? `${looked}.` : `${looked}. Not checked: ${unseen.join('; ')}.`;
}

/**
 * @param at when the receiver last answered, if it does not any more: then no tile says how things are
 * @param {Health} health @param {number} now @param {string | null} at
 */
function tileGrid(health, now, at) {
  /** @param {Tile & {action: Action}} facts @returns {Tile & {action: Action}} */
  const shown = (facts) => (at === null ? facts : { ...facts, tone: 'neutral', word: `Last seen ${at}` });
  return h(
    'section',
    { 'aria-label': 'Facts behind the verdict', 'data-key': 'tiles' },
    h('ul', { class: 'tiles' }, tilesOf(health, now).map(shown).map(tile), regionsTile(health, now)),
  );
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

/** A region that fell silent for a day is worth a look, not an alarm: it may have no jobs. */
const SILENT = 24 * 3_600_000;

/** @param {Health} health @param {number} now */
function regionsTile({ regions }, now) {
  return h(
    'li',
    { class: 'tile wide', 'data-key': 'regions' },
    h('h2', {}, 'Freshness of the regions'),
    regions.length === 0
      ? h('p', { class: 'detail' }, 'No source is bound to a region of the service.')
      : h(
          'ul',
          { class: 'regions' },
          regions.map((region) => regionState(region, now)),
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

/** @param {Health['regions'][number]} region @param {number} now */
function regionState({ region, lastDeliveryAt }, now) {
  const silent = isSilent({ lastDeliveryAt }, now);
  const tone = lastDeliveryAt === null ? 'neutral' : silent ? 'notice' : 'good';
  const text =
    lastDeliveryAt === null ? 'nothing yet' : `${silent ? 'silent, last ' : ''}${ago(lastDeliveryAt, now)}`;
  return h(
    'li',
    { 'data-key': region },
    link(`#/deliveries?region=${encodeURIComponent(region)}`, region),
    status(tone, text),
  );
}

/** @param {LedgerLine[]} deliveries @param {Health} health @param {number} now */
function latestSection(deliveries, health, now) {
  return h(
    'section',
    { 'aria-labelledby': 'latest', 'data-key': 'latest' },
    h(
      'div',
      { class: 'heading' },
      h('h2', { id: 'latest' }, 'Latest'),
      link('#/deliveries', 'All deliveries and filters'),
    ),
    deliveries.length === 0 ? firstCallback(health) : deliveryTable(deliveries, 'Latest deliveries', now),
  );
}
