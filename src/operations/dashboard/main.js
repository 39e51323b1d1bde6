import { ApiError, onSignedOut } from './lib/api/admin-api.js';
import { describeProblem } from './lib/api/describe-problem.js';
import { currentSession, forgetSession, loadSession } from './lib/api/session.js';
import { forgetToken, takeTokenFromAddress, token } from './lib/api/token.js';
import { elementById, link } from './lib/elements/dom.js';
import { textOf } from './lib/elements/field.js';
import { announce, dismissNotice } from './lib/elements/notice.js';
import { emptyPanel, heading, problemPanel } from './lib/elements/panels.js';
import { setPaused } from './lib/screen/poll.js';
import { parseRoute, to } from './lib/screen/route.js';
import { createScreen } from './lib/screen/screen.js';
import { clock, zoneName } from './lib/text/format.js';
import { deliveriesView } from './views/deliveries-view.js';
import { explainView } from './views/explain-view.js';
import { failuresView } from './views/failures/failures-view.js';
import { quarantinedBodyView } from './views/failures/quarantined-body-view.js';
import { helpView } from './views/help-view.js';
import { jobView } from './views/job/job-view.js';
import { overviewView } from './views/overview/overview-view.js';
import { reconcileView } from './views/reconcile-view.js';
import { refusalsView } from './views/refusals-view.js';
import { replayView } from './views/replay-view.js';
import { replaysView } from './views/replays-view.js';
import { searchView } from './views/search-view.js';
import { signInView } from './views/sign-in-view.js';
import { subscribersView } from './views/subscribers-view.js';
import { summaryView } from './views/summary-view.js';

/** @import { Session } from './lib/api/api-answers.js' */
/** @import { Route } from './lib/screen/route.js' */
/** @import { Screen } from './lib/screen/screen.js' */

/** The frame of the page: sign-in, navigation, and one view at a time. */

/**
 * Every view by the name of its route.
 * @type {Record<string, (screen: Screen) => void>}
 */
const VIEWS = {
  overview: overviewView,
  summary: summaryView,
  deliveries: deliveriesView,
  job: jobView,
  search: searchView,
  failures: failuresView,
  'quarantined-body': quarantinedBodyView,
  replays: replaysView,
  replay: replayView,
  reconcile: reconcileView,
  subscribers: subscribersView,
  refusals: refusalsView,
  explain: explainView,
  help: helpView,
  'not-found': notFoundView,
};

const content = elementById('content');
const top = elementById('top');
const actor = elementById('actor');
const freshness = elementById('freshness');
const pause = elementById('pause');
/** @type {ReturnType<typeof createScreen> | null} */
let screen = null;

const ALL_RIGHTS = 4;

/** @type {Route} */
const SIGN_IN = { name: 'sign-in', id: '', section: null, query: new URLSearchParams() };

/** Milliseconds until the rights of the token are requested again. */
const RETRY = 3000;

/**
 * Shows the view of the address, once the rights of the token are known.
 * @param {{moveFocus: boolean}} options
 */
async function open(options) {
  if (takeTokenFromAddress()) forgetSession();
  if (currentSession() === null && token() !== null) {
    try {
      await loadSession();
    } catch (error) {
      if (token() !== null) {
        content.replaceChildren(problemPanel(error));
        setTimeout(open, RETRY, options);
        return;
      }
      announce('The token of this tab is no longer valid.', 'notice');
    }
  }
  show(options);
}

/** @param {{moveFocus: boolean}} options */
function show({ moveFocus }) {
  const session = currentSession();
  const signedIn = session !== null;
  actor.textContent = session === null ? '' : sessionInWords(session);
  const route = signedIn ? parseRoute(location.hash) : SIGN_IN;
  const sameView = screen?.route.name === route.name && screen.route.id === route.id;
  screen?.close();
  if (!sameView) {
    content.replaceChildren();
    freshness.textContent = '';
    freshness.classList.remove('stale');
  }
  top.hidden = !signedIn;
  markSection(route.section);
  screen = createScreen({ root: content, route, onFreshness: showFreshness });
  const view = VIEWS[route.name] ?? signInView(() => open({ moveFocus: true }));
  view(screen);
  if (moveFocus && !sameView && signedIn) focusHeading();
}

/**
 * "Token ops (all rights)", or "Token clinic (view, read of intake)".
 * @param {Session} session
 */
function sessionInWords({ actor: name, may, sources }) {
  const rights = may.length === ALL_RIGHTS ? 'all rights' : may.join(', ');
  return `Token ${name} (${rights}${sources === null ? '' : ` of ${sources.join(', ')}`})`;
}

/** @param {Screen} screen */
function notFoundView(screen) {
  screen.start('Not found');
  screen.render(
    heading('Page not found'),
    emptyPanel('No page has this address.', link('#/', 'Go to the overview')),
  );
}

function focusHeading() {
  scrollTo(0, 0);
  (content.querySelector('h1') ?? content).focus({ preventScroll: true });
}

/** @param {string | null} section */
function markSection(section) {
  for (const anchor of top.querySelectorAll('nav a')) {
    if (anchor.getAttribute('data-view') === section) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
}

/**
 * When the receiver last answered this page; null before it did.
 * @type {string | null}
 */
let updated = null;

/** @param {unknown} error */
function showFreshness(error) {
  freshness.classList.toggle('stale', error !== null);
  if (error === null) {
    updated = new Date().toISOString();
    freshness.textContent = `Updated ${clock(updated)}`;
    return;
  }
  const since = updated === null ? '' : `, last seen ${clock(updated)}`;
  const { title, message } = describeProblem(error);
  freshness.textContent = `Not up to date${since}: ${error instanceof ApiError ? title : message}`;
}

function pauseOrResume() {
  const paused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', String(paused));
  setPaused(paused);
}

const find = document.forms.namedItem('find');
find?.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = textOf(find, 'job');
  if (text !== '') location.hash = to('search', { text });
});
elementById('skip').onclick = (event) => {
  event.preventDefault();
  content.focus();
};
pause.onclick = pauseOrResume;
elementById('notice-close').onclick = () => {
  dismissNotice();
  content.focus();
};
elementById('sign-out').onclick = () => {
  forgetToken();
  forgetSession();
  dismissNotice();
  open({ moveFocus: true });
};
addEventListener('hashchange', () => {
  dismissNotice();
  open({ moveFocus: true });
});
elementById('zone').textContent = zoneName();
onSignedOut(() => {
  // The first question of the page, before anybody has signed in.
  if (currentSession() === null) return;
  forgetSession();
  if (screen?.route.name === 'sign-in') return;
  announce('You were signed out: the token is no longer valid.', 'notice');
  open({ moveFocus: true });
});

open({ moveFocus: false });
