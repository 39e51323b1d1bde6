import { onSignedOut } from './lib/api.js';
import { clock, instantOfLocal, localOfInstant } from './lib/format.js';
import { announce, dismissNotice } from './lib/notice.js';
import { setPaused } from './lib/poll.js';
import { parseRoute, toJob } from './lib/route.js';
import { createScreen } from './lib/screen.js';
import { forgetToken, takeTokenFromAddress, token } from './lib/session.js';
import { chooseUtc, isUtc, ownZone, restoreZone, zoneName } from './lib/time-zone.js';
import { signInView } from './views/sign-in.js';
import { VIEWS } from './views.js';

/** The page's frame: sign-in, navigation, and one view at a time. */

const content = document.getElementById('content');
const top = document.getElementById('top');
const freshness = document.getElementById('freshness');
let screen = null;

function open({ moveFocus }) {
  takeTokenFromAddress();
  const signedIn = token() !== null;
  const route = signedIn ? parseRoute(location.hash) : { name: 'sign-in', query: new URLSearchParams() };
  const sameView = screen?.route.name === route.name && screen.route.id === route.id;
  screen?.close();
  if (!sameView) content.replaceChildren();
  top.hidden = !signedIn;
  markSection(route.section);
  screen = createScreen({ root: content, route, onFreshness: showFreshness });
  const view = signedIn ? VIEWS[route.name] : signInView(() => open({ moveFocus: true }));
  view(screen);
  if (moveFocus && !sameView) focusHeading();
}

function focusHeading() {
  scrollTo(0, 0);
  (content.querySelector('h1') ?? content).focus({ preventScroll: true });
}

function markSection(section) {
  for (const anchor of top.querySelectorAll('nav a')) {
    if (anchor.dataset.view === section) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
}

/** When the receiver last answered this page; null before it did. */
let updated = null;

function showFreshness(error) {
  freshness.classList.toggle('trouble', error !== null);
  if (error === null) {
    updated = new Date().toISOString();
    freshness.textContent = `Updated ${clock(updated)}`;
    return;
  }
  const since = updated === null ? '' : `, last seen ${clock(updated)}`;
  freshness.textContent = `Not up to date${since}: ${error.title ?? error.message}`;
}

function pauseOrResume() {
  const button = document.getElementById('pause');
  const paused = button.getAttribute('aria-pressed') !== 'true';
  button.setAttribute('aria-pressed', String(paused));
  setPaused(paused);
}

/** Instants stay what they are: the fields that are filled in show them in the new zone. */
function switchZone() {
  const fields = [...content.querySelectorAll('[type=datetime-local]')].map((field) => [
    field,
    instantOfLocal(field.value),
  ]);
  chooseUtc(!isUtc());
  for (const [field, instant] of fields) field.value = localOfInstant(instant);
  showZone();
  open({ moveFocus: false });
}

function showZone() {
  for (const place of document.querySelectorAll('.zone')) place.textContent = zoneName();
  const button = document.getElementById('utc');
  button.setAttribute('aria-pressed', String(isUtc()));
  button.hidden = ownZone() === 'UTC';
  if (updated !== null && !freshness.classList.contains('trouble'))
    freshness.textContent = `Updated ${clock(updated)}`;
}

/** `/` leads to the find field, except where the reader is writing or has to answer first. */
function onKey(event) {
  const writes = event.target.closest?.('input, textarea, select, [contenteditable], dialog') !== null;
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || writes) return;
  const field = document.getElementById('find-job');
  if (!field.checkVisibility()) return;
  event.preventDefault();
  field.focus();
  field.select();
}

function find(event) {
  event.preventDefault();
  const jobId = event.target.elements.job.value.trim();
  if (jobId !== '') location.hash = toJob(jobId);
}

document.querySelector('.skip').onclick = (event) => {
  event.preventDefault();
  content.focus();
};
document.getElementById('find').onsubmit = find;
document.getElementById('pause').onclick = pauseOrResume;
document.getElementById('utc').onclick = switchZone;
addEventListener('keydown', onKey);
document.getElementById('notice-close').onclick = () => {
  dismissNotice();
  content.focus();
};
document.getElementById('sign-out').onclick = () => {
  forgetToken();
  open({ moveFocus: true });
};
addEventListener('hashchange', () => {
  dismissNotice();
  open({ moveFocus: true });
});
restoreZone();
showZone();
onSignedOut(() => {
  if (screen.route.name === 'sign-in') return;
  announce('You were signed out: the token is not valid (any more).', 'notice');
  open({ moveFocus: true });
});

open({ moveFocus: false });
