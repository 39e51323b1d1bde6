import { adviceFor } from '../lib/advice.js';
import { get, send } from '../lib/api.js';
import { h, kept } from '../lib/dom.js';
import { fact, field, heading } from '../lib/panels.js';
import { status } from '../lib/status.js';
import { capital } from '../lib/story.js';

/** What would happen to a callback, and why: asks the very gate that guards the receiver. */
export function explainView(screen) {
  const { query } = screen.route;
  screen.start('Explain');
  screen.render(
    heading('Explain'),
    h(
      'p',
      { class: 'prose', 'data-key': 'about' },
      'Would a callback from this address with these headers be accepted, by which rule and with which credential? Nothing is sent or stored.',
    ),
    kept('div', { class: 'story', 'data-key': 'form' }, String(query), () => {
      const result = h('div', { class: 'result', 'aria-live': 'polite' });
      const form = explainForm(query, result);
      if (query.get('run') === '1') ask(form, result);
      return [form, result];
    }),
  );
  get('/health', { signal: screen.signal })
    .then(({ sources }) =>
      screen.root
        .querySelector('#sources')
        ?.replaceChildren(...sources.map(({ source }) => h('option', { value: source }))),
    )
    .catch(() => {});
}

function explainForm(query, result) {
  const forwardedFor = query.get('forwardedFor');
  return h(
    'form',
    { class: 'panel', onsubmit: (event) => explain(event, result) },
    field(
      'explain-source',
      'Source',
      h('input', {
        name: 'source',
        required: true,
        value: query.get('source') || 'default',
        list: 'sources',
        autocomplete: 'off',
      }),
    ),
    h('datalist', { id: 'sources' }),
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
      'The sender’s, or that of the proxy in front; then add its X-Forwarded-For below.',
    ),
    field(
      'explain-headers',
      'Headers, a line each',
      h(
        'textarea',
        { name: 'headers', rows: 5, spellcheck: 'false', placeholder: 'X-Callback-Token: …' },
        forwardedFor === null ? '' : `X-Forwarded-For: ${forwardedFor}`,
      ),
      'They go to this receiver only and are not stored.',
    ),
    h('div', { class: 'buttons' }, h('button', { type: 'submit' }, 'Explain')),
  );
}

function explain(event, result) {
  event.preventDefault();
  return ask(event.currentTarget, result);
}

async function ask(form, result) {
  const { source, address, headers } = form.elements;
  try {
    const order = {
      source: source.value.trim(),
      address: address.value.trim(),
      headers: headersOf(headers.value),
    };
    result.replaceChildren(decision(await send('POST', '/explain', order)));
  } catch (error) {
    result.replaceChildren(
      h(
        'div',
        { class: 'panel bad' },
        h('p', { class: 'lead' }, error.title ?? 'Not understood'),
        h('p', {}, error.message),
        error.code && h('p', {}, adviceFor(error)),
      ),
    );
  }
}

/** Throws for a line that is no header. Repeated names become lists. */
export function headersOf(text) {
  const headers = new Map();
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error(`“${line.slice(0, 40)}” is not a header line. Write Name: value.`);
    const name = line.slice(0, colon).trim();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(headers);
}

function decision({ decision: decided, status: code, reason, clientIp, region, rule, credential, gates }) {
  const accepted = decided === 'accept';
  return h(
    'div',
    { class: `panel ${accepted ? 'good' : 'bad'}` },
    h(
      'p',
      { class: 'lead' },
      status(accepted ? 'good' : 'bad', accepted ? 'Accepted' : `Refused with ${code}`),
    ),
    h('p', {}, `${capital(reason)}.`),
    h('h2', {}, 'Every check'),
    h('ul', { class: 'gates' }, gates.map(gateItem)),
    h(
      'dl',
      { class: 'facts' },
      fact('Client address', clientIp ?? 'not readable'),
      fact('Region', region ?? 'not a region of the service'),
      fact('Allowed by', rule ?? 'no rule'),
      fact('Credential', credential ?? 'none'),
    ),
  );
}

/** One check: what was found, and what would have to change for it to pass. */
function gateItem({ gate, passed, detail, toPass }) {
  return h(
    'li',
    {},
    status(passed ? 'good' : 'bad', passed ? 'Passes' : 'Fails'),
    h('strong', {}, ` ${capital(gate)}`),
    h('p', {}, `${capital(detail)}.`),
    toPass !== null && h('p', {}, 'To pass: ', h('code', {}, toPass)),
  );
}
