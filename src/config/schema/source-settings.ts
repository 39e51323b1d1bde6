import { z } from 'zod';
import { CONTEXT_NAME, CONTEXT_NAME_EXPECTED, MAX_CONTEXT_NAMES } from '../../domain/context.js';
import { CONTENT_TOKENS } from '../../domain/kinds.js';
import { EGRESS } from '../egress.js';
import { named, optional, required, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { byRegion } from './by-region.js';
import { NAME, NAME_EXPECTED } from './names.js';

const credential = z.strictObject({
  headers: required(
    z.array(types.headerLine()).min(1, 'at least one header line').max(16, 'at most 16 header lines'),
    'list of header lines',
    'Lines `<Header-Name>: <value>`, as in `auth_headers` of the job; all must match.',
  ),
  notBefore: optional(types.instant(), 'time', 'Not valid before this time.'),
  expires: optional(types.instant(), 'time', 'Not valid from this time on.'),
});

const source = z.strictObject({
  credentials: setting(
    named(NAME, NAME_EXPECTED, credential),
    'map of name to credential',
    {},
    'A request must match one of them.',
  ),
  allowUnauthenticated: setting(
    types.flag(),
    'boolean',
    false,
    'Allows a source without credentials in production, for requests that were neither forwarded nor sent by a web page.',
  ),
  allow: setting(
    z.array(types.allowEntry()),
    'list of regions, CIDRs, addresses or any',
    ['127.0.0.0/8', '::1'],
    'Addresses that may send. A region stands for its addresses in `egress`; any turns the check off.',
  ),
  allowMode: setting(
    types.oneOf(['enforce', 'report']),
    'enforce or report',
    'enforce',
    'report accepts other addresses, and counts and records them.',
  ),
  contents: setting(
    z.array(types.oneOf(CONTENT_TOKENS)),
    'list of content names',
    ['transcript'],
    'What the jobs of this source request.',
  ),
  context: setting(
    z
      .array(types.text(CONTEXT_NAME, CONTEXT_NAME_EXPECTED))
      .max(MAX_CONTEXT_NAMES, `at most ${MAX_CONTEXT_NAMES} names`),
    'list of parameter names',
    [],
    'Parameters of the callback URL that are kept as context, at most 8.',
  ),
  maxBytes: setting(types.size(1), 'size', '5GiB', 'Largest body, decoded.'),
  keyPrefix: setting(types.keyPrefix(), 'text', '', "Key prefix of the source's jobs/."),
});

export const sources = setting(
  named(NAME, NAME_EXPECTED, source),
  'map of name to source',
  {},
  'Callback endpoints /callbacks/<name>.',
);

const ranges = z.array(types.range());

export const egress = section(
  'Addresses from which the service sends callbacks, listed in config/egress.yaml.',
  {
    takenOn: setting(
      types.text(/^\d{4}-\d{2}-\d{2}$/, 'a date such as 2026-01-31'),
      'date',
      EGRESS.takenOn,
      'Date on which the service published this list.',
    ),
    regions: setting(
      byRegion((region) => ranges.prefault(EGRESS.regions[region]), ranges),
      'map of region to list of CIDRs or addresses',
      {},
      'A list replaces the built-in one. Another name adds a region.',
    ),
  },
);
