import { ApiError, get, problemWith } from '../../lib/api/admin-api.js';
import { elementById, h, link } from '../../lib/elements/dom.js';
import { emptyPanel, section } from '../../lib/elements/panels.js';
import { clock } from '../../lib/text/format.js';
import { drawCharts } from '../charts/chart-figures.js';
import { deliveryTable, firstCallback } from '../delivery-table.js';
import { chartsSection, overviewCharts, rangeOf } from './charts-section.js';
import { isPartlyRead } from './tile-parts.js';
import { tilesSection } from './tiles-section.js';
import { verdictBanner } from './verdict-banner.js';

/** @import { GetAnswers, Health, LedgerLine, Summary } from '../../lib/api/api-answers.js' */
/** @import { Screen } from '../../lib/screen/screen.js' */
/** @import { Chart } from '../charts/period-charts.js' */

/** @typedef {GetAnswers['/deliveries'] | ApiError} Latest an error while the store cannot be read */
/** @typedef {{health: Health, summary: Summary, charts: Chart[], latest: Latest}} Seen */

/**
 * The verdict, the facts behind it, charts, and the latest deliveries.
 * @param {Screen} screen
 */
export function overviewView(screen) {
  screen.start('Overview');
  const range = rangeOf(screen.route.query);
  /** @type {Seen | null} */
  let seen = null;
  /** @param {Seen} seen @param {string | null} [at] */
  const draw = ({ health, summary, charts, latest }, at = null) => {
    const now = Date.parse(health.at);
    screen.render(
      h('h1', { class: 'unseen', tabindex: '-1', 'data-key': 'heading' }, 'Overview'),
      verdictBanner(health, at),
      tilesSection(health, now, at),
      chartsSection(summary, charts, health.verdict, range),
      latestSection(latest, health, now),
    );
  };
  /** @param {AbortSignal} signal */
  const refresh = async (signal) => {
    const since = new Date(Date.now() - range.ms).toISOString();
    const [health, summary, latest] = await Promise.all([
      get('/health', { signal }),
      get('/summary', { query: { since, buckets: range.buckets }, signal }),
      // Lines are in the store, and the verdict is needed most while that is away.
      get('/deliveries', { query: { limit: 5, without: 'acts' }, signal }).catch(
        problemWith('store-unavailable'),
      ),
    ]);
    const charts = overviewCharts(summary);
    seen = { health, summary, charts, latest };
    draw(seen);
    elementById('replica').textContent = `${health.replica} · ${health.version}`;
    drawCharts(charts, screen.signal);
  };
  screen.keepFresh(4000, refresh, () => {
    if (seen !== null) draw(seen, clock(seen.health.at));
  });
}

/** @param {Latest} latest @param {Health} health @param {number} now */
function latestSection(latest, health, now) {
  return section(
    { id: 'latest', title: 'Latest', look: 'compact', beside: link('#/deliveries', 'All deliveries') },
    latest instanceof ApiError
      ? h('p', { class: 'quiet' }, 'Unknown: the store cannot be read.')
      : latestTable(latest.deliveries, health, now),
  );
}

/** @param {readonly LedgerLine[]} deliveries @param {Health} health @param {number} now */
function latestTable(deliveries, health, now) {
  if (deliveries.length > 0) return deliveryTable(deliveries, 'Latest deliveries', now);
  // The verdict says what the index lacks.
  return isPartlyRead(health.verdict) ? emptyPanel('No delivery was found.') : firstCallback(health, now);
}
