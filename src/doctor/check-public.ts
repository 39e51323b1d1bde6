import { readLedger } from '../archive/ledger/ledger-reader.js';
import type { LedgerLine } from '../domain/delivery.js';
import type { ObjectStore } from '../store/object-store.js';
import { ulidMaker } from '../text/ulid-maker.js';
import { adviceForRefusal } from './advice.js';
import { errorText, type Finding, failed, ok, skipped, warning } from './finding.js';
import { askPublic, type PublicAnswer } from './public-request.js';

export interface PublicCheckOptions {
  /** Public address of the receiver, without `/callbacks`. */
  readonly url: URL;
  readonly source: string;
  /** Header lines of a credential that is valid now; empty for a source without credentials. */
  readonly credential: readonly string[];
  /** Largest body the source takes, in bytes. */
  readonly maxBytes: number;
  /** Where the receiver keeps its ledger. */
  readonly store: ObjectStore;
  /** Milliseconds to an answer. */
  readonly timeout: number;
}

/** An address of documentation (RFC 5737): nobody calls from there, so whoever believes it believes anything. */
const CLAIMED = '192.0.2.1';
const DAY = 86_400_000;

/**
 * Sends marked callbacks through the public address, as the service would, and looks at what became of them.
 * They carry no body, so that nothing but ledger lines of jobs named `doctor-…` remains. Never throws.
 */
export async function checkPublic(options: PublicCheckOptions): Promise<Finding[]> {
  const call = caller(options);
  let first: PublicAnswer;
  try {
    first = await call({});
  } catch (error) {
    return [unreachable(options.url, error)];
  }
  const transport = [secrecy(options.url), ...certificate(first)];
  if (first.own === null) return [...transport, notOurs(first)];
  return [
    ...transport,
    await arrival(options, first),
    await spoof(options, call),
    await size(options, call),
    await seclusion(options),
  ];
}

interface Variation {
  readonly headers?: readonly string[];
  readonly announce?: number;
}

type Call = (variation: Variation) => Promise<PublicAnswer>;

const nextId = ulidMaker();

function caller({ url, source, credential, timeout }: PublicCheckOptions): Call {
  return ({ headers = [], announce }) => {
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/+$/, '')}/callbacks/${source}`;
    target.searchParams.set('id', `doctor-${nextId(Date.now())}`);
    target.searchParams.set('status', 'doctor');
    return askPublic({
      url: target,
      method: 'POST',
      headers: [...credential, ...headers],
      timeout,
      ...(announce === undefined ? {} : { announce }),
    });
  };
}

function unreachable(url: URL, error: unknown): Finding {
  return failed(
    'public address',
    `${url.origin} cannot be reached: ${errorText(error)}.`,
    'Check name service, certificate, firewall and the balancer from outside.',
  );
}

function secrecy(url: URL): Finding {
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || isHere
    ? ok('public transport', url.protocol === 'https:' ? 'It speaks TLS.' : 'It does not leave this machine.')
    : warning('public transport', 'Credentials and transcripts travel readable.', 'Use https.');
}

function certificate({ certificateEnds }: PublicAnswer): Finding[] {
  if (certificateEnds === null) return [];
  const days = Math.floor((certificateEnds.getTime() - Date.now()) / DAY);
  const message = `The certificate ends in ${days} days.`;
  return days > 14
    ? [ok('public certificate', message)]
    : [warning('public certificate', message, 'Renew it; the service delivers nothing to an expired one.')];
}

/** The first answer came from something in between. */
function notOurs({ status, location }: PublicAnswer): Finding {
  if (location !== null) {
    return failed(
      'public address',
      `It redirects to ${location} (${status}).`,
      'Nothing may redirect a callback: senders turn the POST into an empty GET. Use the address it redirects to.',
    );
  }
  return failed(
    'public address',
    `Something in front of the receiver answered ${status}.`,
    'Check that the balancer passes /callbacks/ on, and that it finds a replica that is ready.',
  );
}

async function arrival(options: PublicCheckOptions, { status, own }: PublicAnswer): Promise<Finding> {
  const check = 'public callback';
  const deliveryId = own?.deliveryId;
  if (typeof deliveryId !== 'string') {
    const message = `The receiver refused a marked callback with ${status}: ${own?.detail}`;
    const { verdict, advice } = adviceForRefusal(String(own?.code));
    return { check, verdict, message, advice };
  }
  const line = await findLine(options.store, deliveryId).catch(() => null);
  if (line === null) {
    return warning(
      check,
      `It was accepted as ${deliveryId}, but the ledger in ${options.store.location} does not have it.`,
      'Run doctor with the configuration of the service; or another receiver answers at this address.',
    );
  }
  const { clientIp, region, credential, shape } = line;
  const seen = `client address ${clientIp ?? 'unreadable'}${region === null ? '' : ` (${region})`}`;
  const how = `credential ${credential ?? 'none'}, body ${shape?.framing ?? 'unknown'}`;
  return ok(check, `It was accepted, and is in the ledger: ${seen}, ${how}. Is that this machine's address?`);
}

async function findLine(store: ObjectStore, deliveryId: string): Promise<LedgerLine | null> {
  // Another machine's clock dates the line.
  const since = new Date(Date.now() - 15 * 60_000).toISOString();
  for await (const line of readLedger(store, { since })) {
    if (line.deliveryId === deliveryId) return line;
  }
  return null;
}

async function spoof({ store }: PublicCheckOptions, call: Call): Promise<Finding> {
  const check = 'public client address';
  try {
    const { own } = await call({ headers: [`X-Forwarded-For: ${CLAIMED}`] });
    const deliveryId = own?.deliveryId;
    const seen =
      typeof deliveryId === 'string'
        ? ((await findLine(store, deliveryId))?.clientIp ?? null)
        : addressIn(String(own?.detail ?? ''));
    if (seen === null) return skipped(check, 'The receiver did not say which address it saw.');
    return seen === CLAIMED
      ? failed(
          check,
          `The receiver believed a made-up X-Forwarded-For (${CLAIMED}): anybody can pretend to be the service.`,
          'Narrow receiver.trustedProxies to the addresses of your balancers.',
        )
      : ok(check, `A made-up X-Forwarded-For was not believed; the receiver saw ${seen}.`);
  } catch (error) {
    return failed(
      check,
      `With an X-Forwarded-For there was no answer: ${errorText(error)}.`,
      'Look at the balancer.',
    );
  }
}

/** The refusal of an address names it. */
function addressIn(detail: string): string | null {
  return /^The address (\S+) is not on/.exec(detail)?.[1] ?? null;
}

/** Sizes at which balancers are known to stop by default, e.g. nginx at 1 MiB. */
const STEPS = [2 ** 20, 10 * 2 ** 20, 100 * 2 ** 20, 2 ** 30];

/**
 * Announces a body one byte too large for the source. The receiver refuses it before it comes; whoever refuses it
 * instead has a limit of its own, and whoever waits for it collects bodies before passing them on.
 */
async function size({ maxBytes }: PublicCheckOptions, call: Call): Promise<Finding> {
  const check = 'public body size';
  try {
    const { status, own } = await call({ announce: maxBytes + 1 });
    if (own?.code === 'body-too-large') {
      return ok(
        check,
        `Bodies up to the source's ${maxBytes} bytes pass; larger ones hear the receiver's 413.`,
      );
    }
    if (own !== null) return skipped(check, `The receiver refused the probe before its size: ${own.detail}`);
    return failed(
      check,
      `Something in front answered ${status} to a body of ${maxBytes + 1} bytes${await lowerLimit(maxBytes, call)}.`,
      'Lift the size limit of the balancer (nginx: client_max_body_size 0); the receiver has its own.',
    );
  } catch (error) {
    return failed(
      check,
      `A body that was announced and not sent got no answer: ${errorText(error)}.`,
      'The balancer seems to collect bodies before it passes them on (nginx: proxy_request_buffering off).',
    );
  }
}

async function lowerLimit(maxBytes: number, call: Call): Promise<string> {
  for (const step of STEPS.filter((bytes) => bytes < maxBytes)) {
    const answer = await call({ announce: step + 1 }).catch(() => null);
    if (answer !== null && answer.own === null) return `, and already to one of ${step + 1}`;
  }
  return '';
}

/** What belongs to operators must not be reachable from outside. */
async function seclusion({ url, timeout }: PublicCheckOptions): Promise<Finding> {
  const open: string[] = [];
  for (const path of ['metrics', 'admin/api/health']) {
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/+$/, '')}/${path}`;
    const answer = await askPublic({ url: target, method: 'GET', headers: [], timeout }).catch(() => null);
    // The admin port asks for a token: 401 there means that it is in reach.
    if (answer !== null && [200, 401].includes(answer.status)) open.push(`/${path}`);
  }
  return open.length === 0
    ? ok('public surface', 'Metrics and admin API are not in reach.')
    : failed(
        'public surface',
        `In reach from outside: ${open.join(', ')}.`,
        'Route only /callbacks/ to the public port, and nothing to the admin port.',
      );
}
