import { z } from 'zod';
import { RIGHTS } from '../../domain/rights.js';
import { named, optional, required, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { NAME, NAME_EXPECTED } from './names.js';

const SECRET = /^[\x21-\x7e]{8,4096}$/;

const may = required(
  z.array(types.nearestOf(RIGHTS)).min(1, { message: `at least one of ${RIGHTS.join(', ')}` }),
  'list of rights',
  '`view`: everything but content. `read`: transcripts, media and quarantined bodies. `repair`: every change but erasing. `erase`: erasing jobs. No right includes another one.',
);
const sources = setting(
  z.array(types.text(NAME, NAME_EXPECTED)),
  'list of names',
  [],
  'Sources that exist for the token; empty means all.',
);

const TOKEN_EXPECTED = 'a token of 8 to 4096 printable characters without spaces';

/** A plain token may all. Its fault names the entry, not a member that nobody wrote. */
const token = z.preprocess(
  (written, context) => {
    if (typeof written !== 'string') return written;
    if (SECRET.test(written)) return { token: written, may: [...RIGHTS] };
    context.issues.push({ code: 'custom', message: TOKEN_EXPECTED, input: written });
    return z.NEVER;
  },
  z.strictObject({
    token: required(
      types.text(SECRET, TOKEN_EXPECTED),
      'token',
      'Bearer token; at least 20 characters in production and beyond loopback.',
    ),
    may,
    sources,
  }),
);

const HEADER = /^(?!authorization$|cookie$|host$|x-forwarded-for$)[A-Za-z][A-Za-z0-9-]{0,63}$/i;
const WHO = /^[\x21-\x2b\x2d-\x7e][\x20-\x2b\x2d-\x7e]{0,127}$/;
const grants = named(
  WHO,
  'a name of up to 128 printable characters without commas',
  z.strictObject({ may, sources }),
);

const proxyAuth = section(
  'People who sign in at an authenticating proxy in front of the admin port. Its headers are believed only from `admin.trustedProxies`.',
  {
    userHeader: optional(
      types.text(HEADER, 'the name of a header'),
      'name of a header',
      "Header in which the proxy sends the user's name, such as X-Auth-Request-User. The proxy must remove it from what clients send. The ledger records the name after `proxy:`.",
    ),
    groupsHeader: optional(
      types.text(HEADER, 'the name of a header'),
      'name of a header',
      "Header in which it sends the user's groups, separated by commas.",
    ),
    users: setting(grants, 'map of user to `may` and `sources`', {}, 'Rights of single users, as of tokens.'),
    groups: setting(
      grants,
      'map of group to `may` and `sources`',
      {},
      'Rights of groups, for users who are not in `users`. The first group counts that the user is in; rights of several are never added up.',
    ),
  },
);

export const admin = section('The admin port: metrics, admin API and dashboard.', {
  host: setting(
    types.host(),
    'host',
    '127.0.0.1',
    'Address to listen on. Beyond loopback only with configured tokens.',
  ),
  port: setting(types.count(0, 65_535), 'port', 8081, 'Admin port number; 0 takes a free one.'),
  hosts: setting(
    z.array(types.hostName()),
    'list of names',
    [],
    'Host names that /metrics accepts besides IP addresses and internal names (without a dot, .local, .internal, .svc).',
  ),
  trustedProxies: setting(
    z.array(types.proxyRange()),
    'list of CIDRs or addresses',
    [],
    'Proxies in front of the admin port whose X-Forwarded-For and `admin.proxyAuth` headers are believed. Every process on such an address can claim to be any user.',
  ),
  proxyAuth,
  tls: section(
    'HTTPS on the admin port. The files are read anew when they change; a pair that cannot be used leaves the one before in place.',
    {
      cert: optional(
        types.text(/^[^\0]{1,4096}$/, 'a path'),
        'path',
        'File with the certificate and its chain, PEM.',
      ),
      key: optional(types.text(/^[^\0]{1,4096}$/, 'a path'), 'path', 'File with its private key, PEM.'),
    },
  ),
  tokens: setting(
    named(NAME, NAME_EXPECTED, token),
    'map of name to token, or to the settings of `admin.tokens.<name>`',
    {},
    'Bearer tokens by name; the ledger records the name with every change and every look at content. A plain token may all. When empty, a token is generated at start and printed.',
  ),
});
