import { z } from 'zod';
import { RIGHTS } from '../../domain/rights.js';
import { named, required, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { NAME, NAME_EXPECTED } from './names.js';

const SECRET = /^[\x21-\x7e]{8,4096}$/;

const may = required(
  z.array(types.nearestOf(RIGHTS)).min(1, { message: `at least one of ${RIGHTS.join(', ')}` }),
  'list of rights',
  '`view`: everything but content; `read`: content; `repair`: changes; `erase`: erasing jobs. None includes another.',
);
const sources = setting(
  z.array(types.text(NAME, NAME_EXPECTED)),
  'list of names',
  [],
  'Sources that exist for it; empty: all.',
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

export const admin = section('The admin port: metrics, admin API and dashboard.', {
  host: setting(types.host(), 'host', '127.0.0.1', 'Address to listen on; beyond loopback only with tokens.'),
  port: setting(types.count(0, 65_535), 'port', 8081, '0 takes a free one.'),
  hosts: setting(
    z.array(types.hostName()),
    'list of names',
    [],
    'Host names that /metrics accepts besides IP addresses and internal names.',
  ),
  tokens: setting(
    named(NAME, NAME_EXPECTED, token),
    'map of name to token or settings',
    {},
    'Bearer tokens by the name that the ledger records. A plain token may do everything. When empty, a token is generated at start and printed.',
  ),
});
