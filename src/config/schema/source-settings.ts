import { z } from 'zod';
import { CONTEXT_NAME, CONTEXT_NAME_EXPECTED, MAX_CONTEXT_NAMES } from '../../domain/context.js';
import { CONTENT_TOKENS } from '../../domain/kinds.js';
import { EGRESS } from '../egress.js';
import { named, optional, required, section, setting } from '../setting.js';
import * as types from '../value-types.js';
import { byRegion } from './by-region.js';

const credential = z.strictObject({
  headers: required(
    z.array(types.headerLine()).min(1, 'at least one header line').max(16, 'at most 16 header lines'),
    'list of header lines',
    '`<Header-Name>: <value>`, as in `auth_headers`; all must match.',
  ),
  notBefore: optional(types.instant(), 'time', 'Valid from then on.'),
  expires: optional(types.instant(), 'time', 'Invalid from then on.'),
});

const source = z.strictObject({
  credentials: setting(named(credential), 'map of name to credential', {}, 'One must match.'),
  allowUnauthenticated: setting(
    types.flag(),
    'boolean',
    false,
    'Needs no credentials in production; forwarded requests and those of web pages are refused.',
  ),
  allow: setting(
    z.array(types.text(/\S/, 'a region, an address, a CIDR or any')),
    'list of regions, CIDRs, addresses or any',
    ['127.0.0.0/8', '::1'],
    'A region stands for its addresses in `egress`; any turns the check off.',
  ),
  allowMode: setting(
    types.oneOf(['enforce', 'report']),
    'enforce or report',
    'enforce',
    'report accepts other addresses and records them.',
  ),
  contents: setting(
    z.array(types.oneOf(CONTENT_TOKENS)),
    'list of content names',
    ['transcript'],
    'What its jobs request.',
  ),
  context: setting(
    z
      .array(types.text(CONTEXT_NAME, CONTEXT_NAME_EXPECTED))
      .max(MAX_CONTEXT_NAMES, `at most ${MAX_CONTEXT_NAMES} names`),
    'list of parameter names',
    [],
    'Kept parameters of the callback URL, at most 8.',
  ),
  maxBytes: setting(types.size(1), 'size', '5GiB', 'Largest body, decoded.'),
  keyPrefix: setting(types.keyPrefix(), 'text', '', 'Precedes jobs/ in its keys.'),
});

export const sources = setting(
  named(source),
  'map of name to source',
  {},
  'Callback endpoints /callbacks/<name>.',
);

const ranges = z.array(types.range());

export const egress = section('Addresses that callbacks come from (config/egress.yaml).', {
  regions: setting(
    byRegion((region) => ranges.prefault(EGRESS[region]), ranges),
    'map of region to list of CIDRs or addresses',
    {},
    'A list replaces the built-in one; another name adds a region.',
  ),
});
