import { z } from 'zod';
import { RIGHTS } from '../../domain/rights.js';
import { named, required, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { NAME, NAME_EXPECTED } from './names.js';

const SECRET = /^[\x21-\x7e]{20,4096}$/;

const may = required(
  z.array(types.oneOf(RIGHTS)).min(1, { message: `at least one of ${RIGHTS.join(', ')}` }),
  'list of rights',
  '`view`: everything but content; `read`: content; `repair`: changes; `erase`: erasing jobs. None includes another.',
);
const sources = setting(
  z.array(types.text(NAME, NAME_EXPECTED)),
  'list of names',
  [],
  'That it sees; empty: all.',
);

const TOKEN_EXPECTED =
  'a token of 20 to 4096 printable characters without spaces; openssl rand -base64 24 makes one';

/** A plain token has every right. Its fault names the entry, not a member that nobody wrote. */
const token = z.preprocess(
  (written, context) => {
    if (typeof written !== 'string') return written;
    if (SECRET.test(written)) return { token: written, may: [...RIGHTS] };
    context.issues.push({ code: 'custom', message: TOKEN_EXPECTED, input: written });
    return z.NEVER;
  },
  z.strictObject({
    token: required(types.text(SECRET, TOKEN_EXPECTED), 'token', 'At least 20 characters.'),
    may,
    sources,
  }),
);

export const admin = section('Metrics, admin API and dashboard.', {
  host: setting(types.host(), 'host', '127.0.0.1', 'As above. Beyond loopback only with tokens.'),
  port: setting(types.count(0, 65_535), 'port', 8081, '0: any free port.'),
  hosts: setting(
    z.array(types.hostName()),
    'list of names',
    [],
    'Accepted by /metrics besides addresses and internal names.',
  ),
  tokens: setting(
    named(token),
    'map of name to token or settings',
    {},
    'By the name in the ledger. A plain token has every right. Without any, one is generated and printed at start.',
  ),
});
