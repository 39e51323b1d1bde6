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
    'Complete lines `<Header-Name>: <value>`, exactly as in `auth_headers` of the job; all must match.',
  ),
  notBefore: optional(types.instant(), 'time', 'Not valid before this time.'),
  expires: optional(types.instant(), 'time', 'Not valid from this time on.'),
});

const source = z.strictObject({
  credentials: setting(
    named(NAME, NAME_EXPECTED, credential),
    'map of name to credential',
    {},
    'A request must match one of them. In production a source needs at least one, or allowUnauthenticated.',
  ),
  allowUnauthenticated: setting(
    types.flag(),
    'true or false',
    false,
    'true allows a source without credentials in production: it accepts every request that its allowlist admits, unless the request was forwarded or comes from a web page.',
  ),
  allow: setting(
    z.array(types.allowEntry()),
    'list of regions, CIDRs, addresses or any',
    ['127.0.0.0/8', '::1'],
    'Addresses that may send. A region name stands for its addresses in `egress`; any turns the check off.',
  ),
  allowMode: setting(
    types.oneOf(['enforce', 'report']),
    'enforce or report',
    'enforce',
    'report accepts addresses that are not on the list, but counts and records them.',
  ),
  contents: setting(
    z.array(types.oneOf(CONTENT_TOKENS)),
    'list of content names',
    ['transcript'],
    'Contents that jobs of this source request; used by notification-config, for single-content bodies and by recovery.',
  ),
  context: setting(
    z
      .array(types.text(CONTEXT_NAME, CONTEXT_NAME_EXPECTED))
      .max(MAX_CONTEXT_NAMES, `at most ${MAX_CONTEXT_NAMES} names`),
    'list of parameter names',
    [],
    "The submitter's own parameters of the callback URL whose values are kept: ids such as call or customer, at most 8. They are in ledger, object metadata, filters and events, and the service keeps the URL with the job.",
  ),
  maxBytes: setting(types.size(1), 'size', '5GiB', 'Largest body, decoded.'),
  keyPrefix: setting(types.keyPrefix(), 'text', '', "Key prefix of the source's jobs/."),
});

export const sources = setting(
  named(NAME, NAME_EXPECTED, source),
  'map of name to source',
  {},
  'Callback endpoints /callbacks/<name>. A source set to null is removed. Outside production, when no source is configured, there is a source named default for this machine; in production there is no built-in source.',
);

const ranges = z.array(types.range());

export const egress = section(
  'Addresses from which the service sends callbacks; listed in config/egress.yaml.',
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
      'A list replaces the one that it overrides. An entry of another name adds a region.',
    ),
  },
);
