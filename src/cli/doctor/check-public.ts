import type { LedgerLine } from '../../domain/delivery.js';
import { TEST_STATUS } from '../../domain/job.js';
import { remedyFor } from '../../domain/reasons.js';
import { scanLines } from '../../ledger/log/scan-lines.js';
import type { ProxySettings } from '../../lib/outbound/proxy-settings.js';
import { compileRanges } from '../../lib/text/ip-address.js';
import { ulidMaker } from '../../lib/text/ulid-maker.js';
import type { ObjectStore } from '../../store/object-store.js';
import { errorMessage, type Finding, failed, passed, skipped, warned } from './finding.js';
import { askPublic, type PublicAnswer } from './public-request.js';

export interface PublicCheckOptions {
  /** Public address of the receiver, without `/callbacks`. */
  readonly url: URL;
  readonly source: string;
  /** Header lines of a valid credential; empty for a source without credentials. */
  readonly credential: readonly string[];
  /** Largest body that the source accepts, in bytes. */
  readonly maxBytes: number;
  /** `receiver.trustedProxies`. */
  readonly trustedProxies: readonly string[];
  /** The store that holds the receiver's ledger. */
  readonly store: ObjectStore;
  /** Milliseconds to a response. */
  readonly timeout: number;
  readonly proxies: ProxySettings;
}

/** An address reserved for documentation (RFC 5737): no request comes from it. */
const FORGED_ADDRESS = '192.0.2.1';

/**
 * Sends test callbacks to the public address, as the service would, and checks how the receiver handled them.
 * They carry no body, so that only ledger lines of one job named `doctor-…` remain. Never throws.
 */
export async function checkPublic(options: PublicCheckOptions): Promise<Finding[]> {
  const call = createCall(options);
  let first: PublicAnswer;
  try {
    first = await call({});
  } catch (error) {
    return [unreachable(options.url, error)];
  }
  if (first.own === null) return [foreignAnswer(first)];
  return [
    await acceptance(options, first),
    await forwardedAddress(options, call, first),
    await bodySize(options, call),
    await exposedPaths(options),
  ];
}

interface Variation {
  readonly headers?: readonly string[];
  readonly announce?: number;
}

type Call = (variation: Variation) => Promise<PublicAnswer>;

const nextId = ulidMaker();

function createCall({ url, source, credential, timeout, proxies }: PublicCheckOptions): Call {
  const jobId = `doctor-${nextId(Date.now())}`;
  return ({ headers = [], announce }) => {
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/+$/, '')}/callbacks/${source}`;
    target.searchParams.set('id', jobId);
    target.searchParams.set('status', TEST_STATUS);
    return askPublic({
      url: target,
      method: 'POST',
      headers: [...credential, ...headers],
      timeout,
      proxies,
      ...(announce === undefined ? {} : { announce }),
    });
  };
}

function unreachable(url: URL, error: unknown): Finding {
  return failed(
    'public address',
    `${url.origin} cannot be reached: ${errorMessage(error)}.`,
    'Check DNS, certificate, firewall and the balancer from outside.',
  );
}

/** The first response came from something in front of the receiver. */
function foreignAnswer({ status, location }: PublicAnswer): Finding {
  if (location !== null) {
    return failed(
      'public address',
      `It redirects to ${location} (${status}).`,
      'Callbacks must not be redirected: senders turn the POST into an empty GET. Use the address it redirects to.',
    );
  }
  return failed(
    'public address',
    `Something in front of the receiver answered ${status}.`,
    'Check that the balancer forwards /callbacks/ and has a replica that is ready.',
  );
}

const LOCAL_ADDRESS_ADVICE =
  'If this is the address of this machine, the balancer forwards addresses correctly: run doctor from an allowed address, or set ' +
  'allowMode: report temporarily, to check the rest. If it is the address of the balancer, add it to receiver.trustedProxies, and let ' +
  'it append X-Forwarded-For.';

async function acceptance(options: PublicCheckOptions, { status, own }: PublicAnswer): Promise<Finding> {
  const check = 'public callback';
  const deliveryId = own?.deliveryId;
  if (typeof deliveryId !== 'string') {
    const message = `The receiver rejected a test callback with ${status}: ${own?.detail}`;
    const code = String(own?.code);
    if (code === 'address-refused') return warned(check, message, LOCAL_ADDRESS_ADVICE);
    return failed(check, message, remedyFor(code) ?? 'See the log of the receiver.');
  }
  const line = await findLine(options.store, deliveryId).catch(() => null);
  if (line === null) {
    return warned(
      check,
      `It was accepted as ${deliveryId}, but the ledger in ${options.store.location} does not contain it.`,
      'Run doctor with the configuration of the receiver. Another receiver may answer at this address.',
    );
  }
  const { clientIp, region, credential, shape } = line;
  const seen = `client address ${clientIp ?? 'unreadable'}${region === null ? '' : ` (${region})`}`;
  const how = `credential ${credential ?? 'none'}, body ${shape?.framing ?? 'unknown'}`;
  return passed(
    check,
    `It was accepted and is in the ledger: ${seen}, ${how}. Check that this is the address of this machine.`,
  );
}

async function findLine(store: ObjectStore, deliveryId: string): Promise<LedgerLine | null> {
  // With tolerance: the line has the time of another machine.
  const since = Date.now() - 15 * 60_000;
  const scan = { store, since, until: Number.POSITIVE_INFINITY, onFault: ignore, onUnreadable: ignore };
  for await (const { line } of scanLines(scan)) {
    if (line.deliveryId === deliveryId) return line;
  }
  return null;
}

function ignore(): void {}

/** @param first the answer without the header */
async function forwardedAddress(
  { store, trustedProxies }: PublicCheckOptions,
  call: Call,
  first: PublicAnswer,
): Promise<Finding> {
  const check = 'public client address';
  try {
    const seen = await addressSeen(store, await call({ headers: [`X-Forwarded-For: ${FORGED_ADDRESS}`] }));
    if (seen === null)
      return skipped(check, 'The response does not contain the address that the receiver saw.');
    if (seen !== FORGED_ADDRESS)
      return passed(check, `The receiver ignored a forged X-Forwarded-For; it saw ${seen}.`);
    const unforged = await addressSeen(store, first);
    const isProxy = unforged !== null && compileRanges(trustedProxies)(unforged) !== null;
    return isProxy
      ? warned(
          check,
          `A forged X-Forwarded-For was trusted, because ${unforged} sent it, which receiver.trustedProxies holds.`,
          `If ${unforged} is this machine, run doctor from another one. If it is the balancer, let it append X-Forwarded-For.`,
        )
      : failed(
          check,
          `The receiver trusted a forged X-Forwarded-For (${FORGED_ADDRESS}): anyone can claim an address of the service.`,
          'Narrow receiver.trustedProxies to the addresses of your balancers.',
        );
  } catch (error) {
    return failed(
      check,
      `A request with X-Forwarded-For got no response: ${errorMessage(error)}.`,
      'Check the balancer.',
    );
  }
}

async function addressSeen(store: ObjectStore, { own }: PublicAnswer): Promise<string | null> {
  const deliveryId = own?.deliveryId;
  if (typeof deliveryId !== 'string') return addressIn(String(own?.detail ?? ''));
  return (await findLine(store, deliveryId))?.clientIp ?? null;
}

/** The address in the detail of an `address-refused` problem. */
function addressIn(detail: string): string | null {
  return /^The address (\S+) is not on/.exec(detail)?.[1] ?? null;
}

/**
 * Announces a body one byte too large for the source, which the receiver rejects before it is sent. A foreign response means a lower limit
 * of a proxy in front; no response means that a proxy buffers bodies.
 */
async function bodySize({ maxBytes }: PublicCheckOptions, call: Call): Promise<Finding> {
  const check = 'public body size';
  try {
    const { status, own } = await call({ announce: maxBytes + 1 });
    if (own?.code === 'body-too-large') {
      // The rejected callback makes the job fail until one without a body settles it.
      await call({});
      return passed(
        check,
        `Bodies up to the source's ${maxBytes} bytes pass; larger ones get the receiver's 413.`,
      );
    }
    if (own !== null)
      return skipped(
        check,
        `The receiver rejected the test callback before it checked the size: ${own.detail}`,
      );
    return failed(
      check,
      `Something in front answered ${status} to a body of ${maxBytes + 1} bytes.`,
      'Remove the size limit of the balancer (nginx: client_max_body_size 0); the receiver has its own.',
    );
  } catch (error) {
    return failed(
      check,
      `A body that was announced and not sent got no response: ${errorMessage(error)}.`,
      'The balancer seems to buffer bodies before it forwards them (nginx: proxy_request_buffering off).',
    );
  }
}

/** Checks that metrics and admin API are not reachable from outside. */
async function exposedPaths({ url, timeout, proxies }: PublicCheckOptions): Promise<Finding> {
  const open: string[] = [];
  for (const path of ['metrics', 'admin/api/health']) {
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/+$/, '')}/${path}`;
    const request = { url: target, method: 'GET', headers: [], timeout, proxies } as const;
    const answer = await askPublic(request).catch(() => null);
    // The admin port requires a token: 401 means that it is reachable.
    if (answer !== null && [200, 401].includes(answer.status)) open.push(`/${path}`);
  }
  return open.length === 0
    ? passed('public surface', 'Metrics and admin API are not reachable.')
    : failed(
        'public surface',
        `Reachable from outside: ${open.join(', ')}.`,
        'Route only /callbacks/ to the public port, and nothing to the admin port.',
      );
}
