import { deliveriesView } from './views/deliveries.js';
import { explainView } from './views/explain.js';
import { failuresView } from './views/failures.js';
import { helpView } from './views/help.js';
import { jobView } from './views/job.js';
import { lostView } from './views/lost.js';
import { overviewView } from './views/overview.js';
import { quarantinedView } from './views/quarantined.js';
import { refusalsView } from './views/refusals.js';
import { replayView } from './views/replay.js';
import { replaysView } from './views/replays.js';

/** @import { Screen } from './lib/screen.js' */

/**
 * Every view by the name of its route.
 * @type {Record<string, (screen: Screen) => void>}
 */
export const VIEWS = {
  overview: overviewView,
  deliveries: deliveriesView,
  job: jobView,
  failures: failuresView,
  quarantined: quarantinedView,
  replays: replaysView,
  replay: replayView,
  refusals: refusalsView,
  explain: explainView,
  help: helpView,
  lost: lostView,
};
