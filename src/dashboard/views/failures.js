import { get } from '../lib/api.js';
import { filterValues, showFilters } from '../lib/filter-form.js';
import { knownNames } from '../lib/known-names.js';
import { heading } from '../lib/panels.js';
import { FAILURE_FILTERS, FIRST_PAGE, failureSection } from './failure-list.js';
import { quarantineSection } from './quarantine-list.js';

/** @import { Screen } from '../lib/screen.js' */

/**
 * What went wrong and is not repaired yet, each with its cause and the button that repairs it.
 * @param {Screen} screen
 */
export function failuresView(screen) {
  const values = filterValues(FAILURE_FILTERS, screen.route.query);
  const state = { shown: FIRST_PAGE };
  screen.start('Failures');
  showFilters(screen.root, values);
  const again = screen.keepFresh(6000, async (signal) => {
    const names = await knownNames();
    const [quarantine, failing] = await Promise.all([
      get('/quarantine', { query: { limit: 100 }, signal }),
      get('/failures', { query: { ...values, limit: state.shown }, signal }),
    ]);
    screen.render(
      heading('Failures'),
      failureSection(failing, names, values, state, () => again()),
      quarantineSection(quarantine, () => again()),
    );
  });
}
