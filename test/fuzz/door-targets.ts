import { Problem } from '../../src/domain/problem.js';
import { compileClientAddress } from '../../src/receive/access/access-check.js';
import { compileAuthenticator } from '../../src/receive/access/authenticate.js';
import { parseCallbackQuery } from '../../src/receive/access/callback-query.js';
import type { Random } from '../support/random.js';
import { mutate } from './mutate.js';
import type { FuzzTarget } from './target.js';

const QUERY_TOKENS = [
  '&',
  '=',
  '%',
  '%00',
  '%2e',
  '+',
  ';',
  'id=',
  'status=',
  'mine=',
  '&id=b',
  '[]',
  '__proto__',
  '#',
  '%zz',
  '?',
] as const;

/** What the address of a callback says: taken only when id and status are there once and are what they may be. */
export const queryTarget: FuzzTarget = {
  name: 'query',
  make: (random) => ({
    bytes: mutate(
      random,
      Buffer.from('id=abc-123&status=success&contents=transcript,data&mine=1'),
      QUERY_TOKENS,
    ),
    details: {},
  }),
  async judge({ bytes }) {
    const raw = bytes.toString('latin1');
    const ids = valuesOf(raw, 'id');
    const statuses = valuesOf(raw, 'status');
    const isRight =
      ids.length === 1 &&
      /^[A-Za-z0-9_-]{1,64}$/.test(ids[0] ?? '') &&
      statuses.length === 1 &&
      /^[A-Za-z0-9._-]{1,64}$/.test(statuses[0] ?? '');
    try {
      const query = parseCallbackQuery(raw, ['mine']);
      if (!isRight) return `accepted as ${JSON.stringify(query)}`;
      const [mine, another] = valuesOf(raw, 'mine');
      const kept = another === undefined && /^[!-~]{1,128}$/.test(mine ?? '') ? mine : undefined;
      const isLeftOut = mine !== undefined && kept === undefined;
      const isSame =
        query.jobId === ids[0] &&
        query.status === statuses[0] &&
        query.context?.mine === kept &&
        (query.contextOmitted !== null) === isLeftOut;
      return isSame ? null : `read as ${JSON.stringify(query)}`;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) return `threw ${error}`;
      return isRight ? 'refused a good query' : null;
    }
  },
};

/** A second reading of application/x-www-form-urlencoded; what it cannot decode never equals a good value. */
function valuesOf(raw: string, name: string): string[] {
  return raw
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) =>
      pair.includes('=') ? [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] : [pair, ''],
    )
    .filter(([key = '']) => percentDecoded(key) === name)
    .map(([, value = '']) => percentDecoded(value));
}

function percentDecoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  return spaced.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const TRUSTED = ['10.0.0.0/8', 'fd00::/8'];
const isTrusted = (address: string): boolean => /^10\./.test(address) || /^fd/.test(address);
const readClient = compileClientAddress(TRUSTED);

/** Plain spellings only, so that the judge can tell them without an address parser of its own. */
function address(random: Random): string {
  const octet = () => random.whole(0, 255);
  return random.pick([
    `10.${octet()}.${octet()}.${octet()}`,
    `${random.whole(11, 223)}.${octet()}.${octet()}.${octet()}`,
    'fd00::1',
    '2001:db8::1',
    '[fd00::2]',
    '[2001:db8::7]',
  ]);
}

/** Without the brackets that an IPv6 address may have. */
const bare = (entry: string): string => entry.replace(/^\[(.*:.*)\]$/, '$1');

const NO_ADDRESSES = [
  'unknown',
  '1.2.3.4:99999',
  '[1.2.3.4]:80',
  '010.0.0.1',
  '0x0a.1.1.1',
  '10.1',
  '167772161',
  '[1.2.3.4]',
  '[]',
  '_x',
  '10.0.0.1 x',
  '::ffff:1.2',
] as const;

/** X-Forwarded-For behind trusted proxies: never an address further left than the first that is not ours. */
export const clientAddressTarget: FuzzTarget = {
  name: 'client address',
  make(random) {
    const entries = Array.from({ length: random.whole(1, 6) }, () =>
      random.chance(0.15) ? random.pick([...NO_ADDRESSES, '']) : address(random),
    );
    const space = random.pick(['', ' ', '\t']);
    return {
      bytes: Buffer.from(entries.join(`${space},${space}`)),
      details: { peer: bare(address(random)), lines: random.whole(1, 2) },
    };
  },
  async judge({ bytes, details }) {
    const text = bytes.toString();
    const peer = String(details.peer);
    const cut = text.indexOf(',');
    const lines = details.lines === 2 && cut !== -1 ? [text.slice(0, cut), text.slice(cut + 1)] : [text];
    const read = readClient(peer, lines);
    const expected = expectedClient(
      peer,
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );
    const found = 'address' in read ? read.address : null;
    return found === expected ? null : `${found} instead of ${expected}`;
  },
};

function expectedClient(peer: string, entries: readonly string[]): string | null {
  if (!isTrusted(peer)) return peer;
  for (const [index, entry] of [...entries].reverse().entries()) {
    if ((NO_ADDRESSES as readonly string[]).includes(entry)) return null;
    const found = bare(entry);
    if (!isTrusted(found) || index === entries.length - 1) return found;
  }
  return null;
}

const SECRET = 'correct-horse-battery-staple';
const authenticate = compileAuthenticator({
  one: { headers: [`X-Token: ${SECRET}`], notBefore: null, expires: null },
  two: {
    headers: ['X-Pair: first-half-of-a-pair', 'Authorization: Bearer second-half-of-it'],
    notBefore: null,
    expires: null,
  },
});

/** Nobody gets in without all lines of one credential, each once and to the letter. */
export const credentialTarget: FuzzTarget = {
  name: 'credentials',
  make(random) {
    const near = (secret: string) =>
      random.chance(0.4)
        ? secret
        : mutate(random, Buffer.from(secret), [' ', '\0', ',', 'x', secret]).toString('latin1');
    const headers: Record<string, string[]> = {};
    for (const [name, secret] of [
      ['x-token', SECRET],
      ['x-pair', 'first-half-of-a-pair'],
      ['authorization', 'Bearer second-half-of-it'],
    ] as const) {
      if (random.chance(0.6))
        headers[name] = Array.from({ length: random.chance(0.1) ? 2 : 1 }, () => near(secret));
    }
    return { bytes: Buffer.from(JSON.stringify(headers)), details: {} };
  },
  async judge({ bytes }) {
    const headers = JSON.parse(bytes.toString()) as Record<string, string[]>;
    const isOnce = (name: string, secret: string) =>
      headers[name]?.length === 1 && headers[name][0] === secret;
    const isRepeated = Object.values(headers).some((values) => values.length > 1);
    const pair =
      isOnce('x-pair', 'first-half-of-a-pair') && isOnce('authorization', 'Bearer second-half-of-it');
    const isRight = !isRepeated && (isOnce('x-token', SECRET) || pair);
    const { ok } = authenticate(headers, Date.now());
    return ok === isRight ? null : `${ok ? 'let in' : 'turned away'} ${bytes}`;
  },
};
