import { h, link } from '../lib/dom.js';
import { moment } from '../lib/panels.js';
import { shape } from '../lib/status.js';
import { tell } from '../lib/story.js';
import { identityOf } from './delivery-table.js';

/** What happened to a job, in words, oldest first. */
export function timelineSection(timeline) {
  return h(
    'section',
    { 'aria-labelledby': 'timeline', 'data-key': 'timeline' },
    h('h2', { id: 'timeline' }, 'What happened'),
    timeline.length === 0
      ? h('p', { class: 'quiet' }, 'No callback, recovery or import is recorded.')
      : h('ol', { class: 'timeline' }, timeline.map(event)),
  );
}

function event(line) {
  const { tone, title, details } = tell(line);
  return h(
    'li',
    { 'data-key': identityOf(line) },
    shape(tone),
    h(
      'div',
      {},
      h('p', { class: 'when' }, moment(line.receivedAt)),
      h('p', { class: 'title' }, title),
      details.map((text) => h('p', { class: 'detail' }, text)),
      wayOn(line),
      shapeOf(line),
    ),
  );
}

function wayOn({ outcome, deliveryId }) {
  if (outcome !== 'quarantined') return null;
  return h('p', {}, link(`#/quarantine/${encodeURIComponent(deliveryId)}`, 'See the body and release it'));
}

/** How the body arrived on the wire, for questions about the sender. */
function shapeOf({ shape: wire, method, deliveryId }) {
  if (!wire) return null;
  const parts = (wire.parts ?? []).map(({ name, contentType, bytes }) =>
    [name ?? 'unnamed or custom name', contentType, `${bytes} bytes`].filter(Boolean).join(' · '),
  );
  return h(
    'details',
    {},
    h('summary', {}, 'As it arrived'),
    h(
      'p',
      { class: 'mono' },
      [method, wire.contentType ?? 'no content type', wire.contentEncoding, wire.framing]
        .filter(Boolean)
        .join(' · '),
    ),
    parts.length > 0 &&
      h(
        'ul',
        { class: 'mono' },
        parts.map((text) => h('li', {}, text)),
      ),
    h('p', { class: 'mono' }, `delivery ${deliveryId}`),
  );
}
