import { z } from 'zod';
import { optional, section, setting } from '../setting.js';
import * as types from '../value-types.js';

export const receiver = section('Callbacks, /healthz and /readyz.', {
  host: setting(types.host(), 'host', '', 'Address to listen on; empty: every address of IPv4 and IPv6.'),
  port: setting(types.count(0, 65_535), 'port', 8080, '0: any free port.'),
  publicUrl: optional(
    types.url(['http:', 'https:']),
    'address',
    'Where senders reach /callbacks; recovery finds its jobs by it.',
  ),
  trustedProxies: setting(
    z.array(types.proxyRange()),
    'list of CIDRs or addresses',
    [],
    'Their X-Forwarded-For is trusted.',
  ),
  keepAliveTimeout: setting(
    types.duration(1_000),
    'duration',
    '620s',
    "Longer than the balancer's (ALB 60 s, Google 600 s), or it answers 502.",
  ),
  drainDelay: setting(
    types.duration(0, 3_600_000),
    'duration',
    '5s',
    'After SIGTERM requests are accepted this long, while /readyz answers 503.',
  ),
  drainDeadline: setting(
    types.duration(0, 3_600_000),
    'duration',
    '60s',
    'Then, for deliveries and changes in flight.',
  ),
});

export const limits = section('Of one replica. A quarter of the first two is for bodies up to 1 MiB.', {
  memoryBudget: setting(types.size(64 * 1024), 'size', '64MiB', 'All body buffers, at least three parts.'),
  maxConcurrentDeliveries: setting(
    types.count(1, 100_000),
    'number',
    256,
    'Others wait up to 10 s, then get 503.',
  ),
  idleTimeout: setting(types.duration(100), 'duration', '30s', 'Longest silence within a body.'),
  minBytesPerSecond: setting(types.count(0, 2 ** 30), 'number', 1024, 'Slowest body; 0: any.'),
  totalTimeout: setting(types.duration(1_000), 'duration', '6h', 'Longest time a body may take.'),
  quarantineBytes: setting(types.size(0), 'size', '8MiB', 'Largest undecodable body that is kept.'),
});
