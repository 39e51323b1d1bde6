import type { IncomingMessage } from 'node:http';
import { Problem } from '../../domain/problem.js';
import type { Right } from '../../domain/rights.js';
import type { SignInFailure } from '../../observe/sign-in-metrics.js';
import { compileClientAddress } from '../../receiver/access/client-address.js';
import { compileRanges } from '../../receiver/access/range-matcher.js';
import { normaliseAddress } from '../../text/ip-address.js';
import { type Access, accessOf } from './access.js';

export interface Grant {
  readonly may: readonly Right[];
  /** Empty means all. */
  readonly sources: readonly string[];
}

/** An authenticating proxy in front of the admin port, as the configuration has it. */
export interface ProxyAuthSettings {
  /** Header with the user's name; null when there is no such proxy. */
  readonly userHeader: string | null;
  /** Header with the user's groups, separated by commas. */
  readonly groupsHeader: string | null;
  readonly users: Readonly<Record<string, Grant>>;
  /** In the order of the configuration: the first one that the user is in counts. */
  readonly groups: Readonly<Record<string, Grant>>;
}

/** Reads what trusted proxies in front of the admin port say about a request. */
export interface ProxySignIn {
  /** Address of the client, behind trusted proxies the one that they forward; null when the connection has ended. */
  clientOf(request: IncomingMessage): string | null;
  /** Whether the request names a user, whoever sent it. */
  namesUser(request: IncomingMessage): boolean;
  /**
   * What the user may whom the proxy names; null when no trusted proxy names one, so that a token is needed. Throws
   * `SignInRefusal` by `refuse` for headers that are ambiguous, and `right-missing` for a user who may nothing.
   */
  access(request: IncomingMessage): Access | null;
}

export interface ProxySignInOptions {
  readonly trustedProxies: readonly string[];
  readonly settings: ProxyAuthSettings;
  /** Called for a user header that came from anywhere else, and is ignored. */
  readonly onIgnored: () => void;
  /** Throws, and reports the failure. */
  readonly refuse: (request: IncomingMessage, cause: SignInFailure, detail: string) => never;
}

/** Printable ASCII. A comma would be two users after a proxy has joined repeated headers. */
const USER = /^[\x21-\x2b\x2d-\x7e][\x20-\x2b\x2d-\x7e]{0,127}$/;

/** Tells users of the proxy and names of tokens apart in the ledger. */
const ACTOR_PREFIX = 'proxy:';

export function createProxySignIn(options: ProxySignInOptions): ProxySignIn {
  const { trustedProxies, settings, onIgnored, refuse } = options;
  const { users } = settings;
  const userHeader = settings.userHeader?.toLowerCase() ?? null;
  const groupsHeader = settings.groupsHeader?.toLowerCase() ?? null;
  const trustedRange = compileRanges(trustedProxies);
  const clientAddress = compileClientAddress(trustedProxies);

  function isFromProxy({ socket }: IncomingMessage): boolean {
    const peer = normaliseAddress(socket.remoteAddress ?? '');
    return peer !== null && trustedRange(peer) !== null;
  }

  function grantOf(user: string, groups: readonly string[]): Grant | null {
    if (Object.hasOwn(users, user)) return users[user] ?? null;
    // Never the sum of several groups: rights of one would hold for the sources of another.
    const group = Object.keys(settings.groups).find((name) => groups.includes(name));
    return group === undefined ? null : (settings.groups[group] ?? null);
  }

  return {
    clientOf(request) {
      const client = clientAddress(request.socket.remoteAddress, request.headersDistinct['x-forwarded-for']);
      return 'address' in client ? client.address : normaliseAddress(request.socket.remoteAddress ?? '');
    },
    namesUser: (request) => userHeader !== null && request.headersDistinct[userHeader] !== undefined,
    access(request) {
      if (userHeader === null) return null;
      const headers = request.headersDistinct;
      const names = headers[userHeader] ?? [];
      if (names.length === 0) return null;
      if (!isFromProxy(request)) {
        onIgnored();
        return null;
      }
      const groupLines = groupsHeader === null ? [] : (headers[groupsHeader] ?? []);
      if (names.length > 1 || groupLines.length > 1) {
        return refuse(request, 'proxy-repeated', 'The proxy sent the user or the groups twice.');
      }
      const [user = ''] = names;
      if (!USER.test(user)) return refuse(request, 'proxy-malformed', 'The name of the user is not valid.');
      const groups = (groupLines[0] ?? '').split(',').map((group) => group.trim());
      const grant = grantOf(user, groups);
      if (grant !== null) return { ...accessOf(`${ACTOR_PREFIX}${user}`, grant), via: 'proxy' };
      throw new Problem('right-missing', 'The configuration gives this user no right (admin.proxyAuth).');
    },
  };
}

/** Sent by the page. Another site cannot send it without asking, and is never answered that it may. */
const OWN_HEADER = 'x-requested-by';

/**
 * Throws `cross-site` for a request that a page of another site may have caused: the proxy signs in every request of its
 * user's browser, also that one. A token is sent by the page itself and needs no such check.
 */
export function rejectCrossSite(request: IncomingMessage, { via }: Pick<Access, 'via'>): void {
  if (via !== 'proxy') return;
  const headers = request.headersDistinct;
  const sites = headers['sec-fetch-site'] ?? [];
  if (sites.some((site) => site !== 'same-origin' && site !== 'none')) {
    throw new Problem('cross-site', 'A page of another site caused this request.');
  }
  if (request.method === 'GET' || request.method === 'HEAD' || headers[OWN_HEADER] !== undefined) return;
  throw new Problem(
    'cross-site',
    'Changes through the proxy need the header X-Requested-By, with any value.',
  );
}
