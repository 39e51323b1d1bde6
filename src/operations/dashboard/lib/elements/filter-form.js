import { isNamedFilter, LINE_FILTERS, NAMED_FILTERS } from '../../vendor/line-filters.js';
import { get } from '../api/admin-api.js';
import { to } from '../screen/route.js';
import { instantOfLocal, localOfInstant } from '../text/format.js';
import { outcomeOf } from '../text/ledger-terms.js';
import { h, link } from './dom.js';
import { choices, field, instantField, textOf } from './field.js';

/** @import { Names } from '../api/api-answers.js' */
/** @import { FormEvent } from './element-types.js' */
/** @import { LineFilter } from '../../vendor/line-filters.js' */
/** @import { Option } from './field.js' */

/**
 * Filters of a list. They are the address, so that a filtered list can be bookmarked and shared.
 *
 * @typedef {object} Filter
 * @property {string} name of the query parameter, in the address and in the API
 * @property {string} label
 * @property {'text' | 'instant' | Option[]} takes
 * @property {string} [example] of a text
 *
 * @typedef {Record<string, string>} FilterValues by name; an empty value does not filter
 */

/** Values of an address. @param {(names: Names) => readonly Filter[]} filtersOf @param {URLSearchParams} query @returns {FilterValues} */
export function filterValues(filtersOf, query) {
  return Object.fromEntries(filtersOf(EVERY_NAME).map(({ name }) => [name, query.get(name) ?? '']));
}

/** With these names a form has all of its filters. @type {Names} */
export const EVERY_NAME = {
  sources: [],
  regions: [],
  statuses: [],
  outcomes: [],
  origins: [],
  contexts: ['name'],
  subscribers: ['name'],
};

/** @param {FilterValues} values */
export function isFiltered(values) {
  return Object.values(values).some((value) => value !== '');
}

/**
 * The filter form of a view; open on wide screens, or if a filter is set.
 * @param {string} view its path @param {readonly Filter[]} filters @param {FilterValues} values
 */
export function filterForm(view, filters, values) {
  const set = Object.values(values).filter((value) => value !== '').length;
  const apply = (/** @type {FormEvent} */ event) => {
    event.preventDefault();
    const address = to(view, chosenIn(event.currentTarget, filters));
    if (address !== location.hash) location.hash = address;
  };
  return h(
    'details',
    { 'data-key': 'filters', open: set > 0 || matchMedia('(min-width: 901px)').matches },
    h('summary', {}, set > 0 ? `Filters (${set} set)` : 'Filters'),
    h(
      'form',
      { class: 'filters', 'aria-label': 'Filters', onsubmit: apply, onchange: apply },
      filters.map((filter) => filterField(`filter-${filter.name}`, filter, values[filter.name] ?? '')),
      h(
        'div',
        { class: 'buttons' },
        h('button', { type: 'submit' }, 'Apply'),
        set > 0 && link(to(view), 'Clear'),
      ),
    ),
  );
}

/**
 * Filters by fields of ledger lines.
 * @param {readonly LineFilter[]} filters @param {Names} names @param {FilterValues} values @returns {Filter[]}
 */
export function lineFilters(filters, names, values) {
  return filters.map((name) => {
    if (!isNamedFilter(name)) return { name, takes: 'text', ...LINE_FILTERS[name] };
    const { names: list, label } = NAMED_FILTERS[name];
    const labelOf = name === 'outcome' ? (/** @type {string} */ each) => outcomeOf(each).word : undefined;
    return { name, label, takes: optionsOf(names[list], values[name], labelOf) };
  });
}

/** The filter by context, where a source admits one. @param {Names} names @param {string} [chosen] @returns {Filter[]} */
export function contextFilter({ contexts }, chosen = '') {
  const example = contexts[0] ?? 'name';
  return contexts.length > 0 || chosen !== ''
    ? [{ name: 'context', label: 'Context', takes: 'text', example: `${example}=…` }]
    : [];
}

/** @param {HTMLFormElement} form @param {readonly Filter[]} filters */
function chosenIn(form, filters) {
  return Object.fromEntries(
    filters.map(({ name, takes }) => {
      const text = textOf(form, name);
      return [name, takes === 'instant' ? instantOfLocal(text) : text];
    }),
  );
}

/** @param {string} id @param {Filter} filter @param {string} value */
export function filterField(id, { name, label, takes, example }, value) {
  if (takes === 'instant') return instantField(id, name, label, value);
  const control =
    takes === 'text'
      ? h('input', { name, value, placeholder: example ?? null, spellcheck: 'false', autocomplete: 'off' })
      : choices(name, takes, value);
  return field(id, label, control);
}

/**
 * Sets the form on the page to the address, after the user went back or cleared the filters.
 * @param {HTMLElement} root @param {FilterValues} values
 */
export function showFilters(root, values) {
  for (const [name, value] of Object.entries(values)) {
    const control = root.querySelector(`form.filters [name=${name}]`);
    if (!(control instanceof HTMLInputElement || control instanceof HTMLSelectElement)) continue;
    if (control === document.activeElement && value !== '') continue;
    control.value = control.type === 'datetime-local' ? localOfInstant(value) : value;
  }
}

/**
 * Options of a filter, including the chosen value even if it is unknown.
 * @param {readonly string[]} names @param {string} [chosen] @param {(name: string) => string} [labelOf]
 * @returns {Option[]}
 */
export function optionsOf(names, chosen = '', labelOf = (name) => name) {
  const all = chosen === '' || names.includes(chosen) ? names : [...names, chosen];
  /** @type {Option[]} */
  const options = all.map((name) => [name, labelOf(name)]);
  return [['', 'Any'], ...options];
}

/**
 * Known names for filters, fetched once: they change only with the configuration.
 * @type {Promise<Names> | null}
 */
let fetched = null;

export function knownNames() {
  fetched ??= get('/names').catch((error) => {
    fetched = null;
    throw error;
  });
  return fetched;
}
