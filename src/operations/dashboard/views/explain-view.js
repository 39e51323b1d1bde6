import { ApiError, post } from '../lib/api/admin-api.js';
import { submitButton } from '../lib/elements/button.js';
import { h, kept } from '../lib/elements/dom.js';
import { choices, field, textOf } from '../lib/elements/field.js';
import { knownNames } from '../lib/elements/filter-form.js';
import { fact, heading, problemPanel } from '../lib/elements/panels.js';
import { status } from '../lib/elements/status.js';
import { capital } from '../lib/text/format.js';

/** @import { Explanation, Gate } from '../lib/api/api-answers.js' */
/** @import { FormEvent } from '../lib/elements/element-types.js' */
/** @import { Option } from '../lib/elements/field.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * Asks the receiver's own access check what would happen to a callback, and why.
 * @param {Screen} screen
 */
export function explainView(screen) {
  screen.start('Explain');
  knownNames().then(
    ({ sources }) => draw(screen, sources),
    (error) => screen.render(heading('Explain'), problemPanel(error)),
  );
}

/** @param {Screen} screen @param {readonly string[]} sources those that are configured */
function draw(screen, sources) {
  const { query } = screen.route;
  screen.render(
    heading('Explain'),
    h(
      'p',
      { class: 'prose', 'data-key': 'about' },
      'Would a callback from this address with these headers be accepted, by which rule and with which credential? No callback is sent, and the headers are not stored. The ledger records that a credential was checked.',
    ),
    kept('div', { class: 'columns', 'data-key': 'form' }, String(query), () => {
      const result = h('div', { class: 'result', 'aria-live': 'polite' });
      return [explainForm(query, sources, result), result];
    }),
  );
}

/**
 * The source of the address, else `default`, else the first one. One that was removed is listed while the address names it.
 * @param {URLSearchParams} query @param {readonly string[]} sources
 */
function sourceChoice(query, sources) {
  const asked = query.get('source') ?? '';
  const all = asked === '' || sources.includes(asked) ? sources : [...sources, asked];
  const options = all.map((name) => /** @type {Option} */ ([name, name]));
  return choices('source', options, asked === '' && all.includes('default') ? 'default' : asked);
}

/** @param {URLSearchParams} query @param {readonly string[]} sources @param {HTMLElement} result */
function explainForm(query, sources, result) {
  const forwardedFor = query.get('forwardedFor');
  return h(
    'form',
    { class: 'panel', onsubmit: (event) => explain(event, result) },
    field('explain-source', 'Source', sourceChoice(query, sources)),
    field(
      'explain-address',
      'Address of the connection',
      h('input', {
        name: 'address',
        required: true,
        value: query.get('address') ?? '',
        placeholder: '203.0.113.7',
        autocomplete: 'off',
        spellcheck: 'false',
      }),
      'The address of the sender, or of the proxy in front of the receiver. For a proxy, add its X-Forwarded-For header below.',
    ),
    field(
      'explain-headers',
      'Headers, one per line',
      h(
        'textarea',
        { name: 'headers', rows: 5, spellcheck: 'false', placeholder: 'X-Callback-Token: …' },
        forwardedFor === null ? '' : `X-Forwarded-For: ${forwardedFor}`,
      ),
      'They are sent to this receiver only and not stored. Of a rejected request it keeps X-Forwarded-For alone: add what the sender sends.',
    ),
    submitButton('Explain'),
  );
}

/** @param {FormEvent} event @param {HTMLElement} result */
async function explain(event, result) {
  event.preventDefault();
  const form = event.currentTarget;
  try {
    const request = {
      source: textOf(form, 'source'),
      address: textOf(form, 'address'),
      headers: headersOf(textOf(form, 'headers')),
    };
    result.replaceChildren(decision(await post('/explain', request)));
  } catch (error) {
    result.replaceChildren(problemPanel(error));
  }
}

/**
 * Headers by name, repeated ones as lists. Throws for a line that is not a header.
 * @param {string} text
 */
export function headersOf(text) {
  const headers = new Map();
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const colon = line.indexOf(':');
    if (colon < 1) throw unreadable(`“${line.slice(0, 40)}” is not a header line. Write Name: value.`);
    const name = line.slice(0, colon).trim();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1)]);
  }
  return Object.fromEntries(headers);
}

/** @param {string} detail */
function unreadable(detail) {
  return new ApiError({ status: 400, code: 'request-invalid', title: 'Not understood', detail });
}

/** @param {Explanation} explanation */
function decision({ decision: decided, status: code, reason, clientIp, region, rule, credential, gates }) {
  const accepted = decided === 'accept';
  const tone = accepted ? 'good' : 'bad';
  return h(
    'div',
    { class: `panel ${tone}` },
    h('p', { class: 'lead' }, status(tone, accepted ? 'Accepted' : `Rejected with ${code}`)),
    h('p', {}, `${capital(reason)}.`),
    h('h2', {}, 'Every check'),
    h('ul', { class: 'rows' }, gates.map(gateItem)),
    h(
      'dl',
      { class: 'facts' },
      clientIp !== null && fact('Client address', clientIp),
      clientIp !== null && fact('Region', region ?? 'not a region of the service'),
      accepted && fact('Allowed by', rule ?? 'no rule'),
      accepted && fact('Credential', credential ?? 'none'),
    ),
  );
}

/**
 * One check: what was found, and what would have to change for it to pass.
 * @param {Gate} gate
 */
function gateItem({ gate, passed, detail, toPass }) {
  return h(
    'li',
    {},
    status(passed ? 'good' : 'bad', passed ? 'Passes' : 'Fails'),
    h('strong', {}, ` ${capital(gate)}`),
    h('p', {}, `${capital(detail)}.`),
    toPass !== null && h('p', {}, `To pass: ${toPass}`),
  );
}
