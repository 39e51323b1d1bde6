import { get } from '../lib/api.js';
import { h, link } from '../lib/dom.js';
import { ago } from '../lib/format.js';
import { sayOnce } from '../lib/notice.js';
import { shape, status } from '../lib/status.js';
import { tilesOf } from '../lib/tiles.js';
import { verdict } from '../lib/verdict.js';
import { chartsSection, drawCharts, rangeOf } from './charts.js';
import { deliveryTable, firstCallback } from './delivery-table.js';

/** Is all well? The verdict, the facts behind it, what arrived over time, and the latest. */
export function overviewView(screen) {
  screen.start('Overview');
  const range = rangeOf(screen.route.query);
  screen.keepFresh(4000, async (signal) => {
    const since = new Date(Date.now() - range.ms).toISOString();
    const [health, summary, latest, failures] = await Promise.all([
      get('/health', { signal }),
      get('/summary', { query: { since, buckets: range.buckets }, signal }),
      get('/deliveries', { query: { limit: 8 }, signal }),
      get('/failures', { query: { limit: 1 }, signal }),
    ]);
    const now = Date.parse(health.at);
    screen.render(
      h('h1', { class: 'unseen', tabindex: '-1', 'data-key': 'heading' }, 'Overview'),
      verdictBanner(verdict(health, now, failures.counts)),
      tileGrid(health, now, failures.counts),
      chartsSection(summary, range),
      latestSection(latest.deliveries, health, now),
    );
    document.getElementById('replica').textContent = `${health.replica} · ${health.version}`;
    drawCharts(summary, screen.signal);
  });
}

function wayOut(href, about) {
  if (href === undefined) return null;
  const text = href === '#/failures' ? 'Repair' : 'What to do';
  return [' ', h('a', { href }, text, h('span', { class: 'unseen' }, `: ${about}`))];
}

function verdictBanner({ tone, word, sentence, href, more }) {
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
    ),
  );
}

function tileGrid(health, now, failing) {
  return h(
    'section',
    { 'aria-label': 'The facts', 'data-key': 'tiles' },
    h('ul', { class: 'tiles' }, tilesOf(health, now, failing).map(tile), regionsTile(health, now)),
  );
}

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

function tileAction(title, { href, text }) {
  return h('p', { class: 'action' }, h('a', { href }, text, h('span', { class: 'unseen' }, `: ${title}`)));
}

/** A region that fell silent for a day is worth a look, not an alarm: it may have no jobs. */
const SILENT = 24 * 3_600_000;

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
      text: 'What to do when one falls silent',
    }),
  );
}

function regionState({ region, lastDeliveryAt }, now) {
  const silent = lastDeliveryAt !== null && now - Date.parse(lastDeliveryAt) > SILENT;
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
