import { get } from '../lib/api.js';
import { knownNames } from '../lib/known-names.js';
import { heading } from '../lib/panels.js';
import { FAILURE_FILTERS, FIRST_PAGE, failureSection } from './failure-list.js';
import { quarantineSection } from './quarantine-list.js';

/** What went wrong and is not repaired yet, each with its cause and the button that repairs it. */
export function failuresView(screen) {
  const filters = Object.fromEntries(
    FAILURE_FILTERS.map((name) => [name, screen.route.query.get(name) ?? '']),
  );
  const state = { shown: FIRST_PAGE, names: null };
  screen.start('Failures');
  const again = screen.keepFresh(6000, async (signal) => {
    state.names ??= await knownNames();
    const [quarantine, failing] = await Promise.all([
      get('/quarantine', { query: { limit: 100 }, signal }),
      get('/failures', { query: { ...filters, limit: state.shown }, signal }),
    ]);
    screen.render(
      heading('Failures'),
      failureSection(failing, filters, state, () => again()),
      quarantineSection(quarantine, () => again()),
    );
  });
}
