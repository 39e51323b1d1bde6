import { h } from './dom.js';

/** @import { Child } from './element-types.js' */

/**
 * A column and its cell in each row; a column that a token may not see is false.
 * @template T
 * @typedef {{name: string, cell: (item: T) => Child} | false} Column
 */

/**
 * A table with a row for each item, which becomes a list of cards on narrow screens. The roles are written out because browsers drop
 * them when a table is not laid out as one. Styles find a cell by the name of its column, `data-label`.
 * @template T
 * @param {string} caption @param {readonly T[]} items @param {(item: T, index: number) => string} keyOf
 * @param {readonly Column<T>[]} columns @param {string} [key]
 */
export function table(caption, items, keyOf, columns, key = caption) {
  const shown = columns.filter((column) => column !== false);
  return h(
    'table',
    { role: 'table', class: 'cards', 'data-key': key },
    h('caption', { class: 'unseen' }, caption),
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        shown.map(({ name }) => h('th', { role: 'columnheader', scope: 'col', 'data-label': name }, name)),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      items.map((item, index) =>
        h(
          'tr',
          { role: 'row', 'data-key': keyOf(item, index) },
          shown.map(({ name, cell }) => h('td', { role: 'cell', 'data-label': name }, cell(item))),
        ),
      ),
    ),
  );
}

/** A figure in a cell. @param {string} text */
export function figure(text) {
  return h('span', { class: 'number' }, text);
}
