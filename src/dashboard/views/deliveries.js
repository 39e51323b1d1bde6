import { act } from '../lib/actions.js';
import { get } from '../lib/api.js';
import { h, link } from '../lib/dom.js';
import { instantOfLocal, localOfInstant } from '../lib/format.js';
import { knownNames, nameOptions } from '../lib/known-names.js';
import { choices, emptyPanel, field, heading, instantField } from '../lib/panels.js';
import { to } from '../lib/route.js';
import { ORIGIN_NAMES, OUTCOME_NAMES, outcomeOf } from '../lib/words.js';
import { deliveryTable, firstCallback, identityOf } from './delivery-table.js';

const FILTERS = ['job', 'outcome', 'region', 'source', 'status', 'origin', 'since', 'until'];
const INSTANTS = new Set(['since', 'until']);

/** What arrived, as it arrives; the filters are the address, so that a list can be passed on. */
export function deliveriesView(screen) {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, screen.route.query.get(name) ?? '']));
  const state = {
    latest: [],
    older: [],
    olderCursor: undefined,
    nextCursor: null,
    health: null,
    names: null,
  };
  screen.start('Deliveries');
  const draw = () =>
    screen.render(heading('Deliveries'), filterBox(filters, state.names), list(screen, filters, state, draw));
  setForm(screen.root, filters);
  screen.keepFresh(3000, async (signal) => {
    state.names ??= await knownNames();
    state.health ??= await get('/health', { signal });
    const page = await get('/deliveries', { query: { ...filters, limit: 50 }, signal });
    state.older = [...keepSeen(state, page.deliveries), ...state.older];
    state.latest = page.deliveries;
    state.nextCursor = page.nextCursor;
    draw();
  });
}

/** Rows pushed off the first page stay on screen once the reader has gone further down. */
function keepSeen({ latest, older }, fresh) {
  if (older.length === 0) return [];
  const there = new Set(fresh.map(identityOf));
  return latest.filter((line) => !there.has(identityOf(line)));
}

function list(screen, filters, state, draw) {
  const lines = [...state.latest, ...state.older];
  if (lines.length === 0) return empty(filters, state.health);
  const cursor = state.olderCursor === undefined ? state.nextCursor : state.olderCursor;
  const loadOlder = (event) =>
    act(event.currentTarget, async () => {
      const page = await get('/deliveries', {
        query: { ...filters, limit: 100, cursor },
        signal: screen.signal,
      });
      state.older.push(...page.deliveries);
      state.olderCursor = page.nextCursor;
      draw();
    });
  return h(
    'section',
    { 'aria-label': 'List', 'data-key': 'list' },
    deliveryTable(lines, 'Deliveries, newest first', Date.now()),
    cursor && h('p', {}, h('button', { type: 'button', class: 'plain', onclick: loadOlder }, 'Load older')),
  );
}

function empty(filters, health) {
  if (Object.values(filters).every((value) => value === '')) return firstCallback(health);
  return emptyPanel(
    'Nothing matches these filters.',
    h('p', {}, 'Widen the time, or ', link('#/deliveries', 'clear all filters'), '.'),
  );
}

/** Open where there is room for it, or when something is chosen. */
function filterBox(filters, names) {
  const chosen = Object.values(filters).filter((value) => value !== '').length;
  const open = chosen > 0 || matchMedia('(min-width: 821px)').matches;
  return h(
    'details',
    { 'data-key': 'filter-box', open },
    h('summary', {}, chosen > 0 ? `Filters (${chosen} set)` : 'Filters'),
    filterForm(filters, names),
  );
}

function filterForm(filters, names) {
  const any = [['', 'Any']];
  const active = Object.values(filters).some((value) => value !== '');
  return h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', 'data-key': 'filters', onsubmit: apply, onchange: apply },
    field(
      'filter-job',
      'Job',
      h('input', { name: 'job', value: filters.job, spellcheck: 'false', autocomplete: 'off' }),
    ),
    field(
      'filter-outcome',
      'Outcome',
      choices(
        'outcome',
        [...any, ...OUTCOME_NAMES.map((name) => [name, outcomeOf(name).word])],
        filters.outcome,
      ),
    ),
    field(
      'filter-region',
      'Region',
      choices('region', nameOptions(names.regions, filters.region), filters.region),
    ),
    field(
      'filter-source',
      'Source',
      choices('source', nameOptions(names.sources, filters.source), filters.source),
    ),
    field(
      'filter-status',
      'Callback status',
      choices('status', nameOptions(names.statuses, filters.status), filters.status),
    ),
    field(
      'filter-origin',
      'Origin',
      choices('origin', [...any, ...ORIGIN_NAMES.map((name) => [name, name])], filters.origin),
    ),
    instantField('filter-since', 'since', 'Since', filters.since),
    instantField('filter-until', 'until', 'Until', filters.until),
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'submit' }, 'Apply'),
      active && link('#/deliveries', 'Clear'),
    ),
  );
}

function apply(event) {
  event.preventDefault();
  const { elements } = event.currentTarget;
  const values = FILTERS.map((name) => [
    name,
    INSTANTS.has(name) ? instantOfLocal(elements[name].value) : elements[name].value.trim(),
  ]);
  const address = to('deliveries', Object.fromEntries(values));
  if (address !== location.hash) location.hash = address;
}

/** Brings a form the reader has typed into to what the address says, after going back or clearing. */
function setForm(root, filters) {
  const form = root.querySelector('form.filters');
  if (form === null) return;
  for (const name of FILTERS) {
    const control = form.elements[name];
    const value = INSTANTS.has(name) ? localOfInstant(filters[name]) : filters[name];
    if (control !== document.activeElement || value === '') control.value = value;
  }
}
