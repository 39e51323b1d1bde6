import { z } from 'zod';
import { optional, section, setting } from '../setting.js';
import * as types from '../value-types.js';

export const receiver = section('The public port: callbacks, /healthz and /readyz.', {
  host: setting(types.host(), 'host', '0.0.0.0', 'Address to listen on.'),
  port: setting(types.count(0, 65_535), 'port', 8080, '0 takes a free one.'),
  publicUrl: optional(
    types.url(['http:', 'https:']),
    'address',
    'Address at which senders reach /callbacks; recovery identifies our entries by it.',
  ),
  trustedProxies: setting(
    z.array(types.proxyRange()),
    'list of CIDRs or addresses',
    [],
    'Proxies whose X-Forwarded-For is trusted; others are ignored.',
  ),
  keepAliveTimeout: setting(
    types.duration(1_000),
    'duration',
    '620s',
    "How long an idle connection stays open: longer than the balancer's idle time-out (ALB 60 s, Google 600 s), or it answers 502.",
  ),
  drainDelay: setting(
    types.duration(0, 3_600_000),
    'duration',
    '5s',
    'After SIGTERM: how long requests are still accepted while /readyz answers 503.',
  ),
  drainDeadline: setting(
    types.duration(0, 3_600_000),
    'duration',
    '60s',
    'After the drain delay: how long deliveries and changes in flight may take.',
  ),
});

export const limits = section('Limits of one replica.', {
  memoryBudget: setting(
    types.size(64 * 1024),
    'size',
    '64MiB',
    'All body buffers of the process; at least three parts. A quarter is reserved for bodies up to 1 MiB.',
  ),
  maxConcurrentDeliveries: setting(
    types.count(1, 100_000),
    'number',
    256,
    'Deliveries received at the same time; a quarter is reserved for bodies up to 1 MiB. Others wait up to 10 s and are then answered 503.',
  ),
  idleTimeout: setting(types.duration(100), 'duration', '30s', 'Longest silence within a body.'),
  minBytesPerSecond: setting(
    types.count(0, 2 ** 30),
    'bytes per second',
    1024,
    'Slowest body; 0 turns the check off.',
  ),
  totalTimeout: setting(types.duration(1_000), 'duration', '6h', 'Longest time a body may take.'),
  quarantineBytes: setting(types.size(0), 'size', '8MiB', 'Largest undecodable body that is kept.'),
});
