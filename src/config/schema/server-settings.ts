import { z } from 'zod';
import { optional, section, setting } from '../setting.js';
import * as types from '../value-types.js';

const PORT = 'port number; 0 takes a free one';

export const receiver = section('The public port: callbacks, /healthz and /readyz.', {
  host: setting(types.host(), 'host', '0.0.0.0', 'Address to listen on.'),
  port: setting(types.count(0, 65_535), 'port', 8080, `Public ${PORT}.`),
  publicUrl: optional(
    types.url(['http:', 'https:']),
    'address',
    'Address at which senders reach /callbacks; notification-config prints it and recovery identifies our entries by it.',
  ),
  trustedProxies: setting(
    z.array(types.proxyRange()),
    'list of CIDRs or addresses',
    [],
    'Proxies whose X-Forwarded-For is trusted. The header of other peers is ignored; a range of prefix 0 is rejected.',
  ),
  keepAliveTimeout: setting(
    types.duration(1_000),
    'duration',
    '620s',
    "How long an idle connection stays open. It must exceed every balancer's idle time-out (ALB 60 s, Google 600 s), or balancers answer 502.",
  ),
  drainDelay: setting(
    types.duration(0, 3_600_000),
    'duration',
    '5s',
    'After SIGTERM: how long requests are still accepted while /readyz answers 503, so that balancers notice.',
  ),
  drainDeadline: setting(
    types.duration(0, 3_600_000),
    'duration',
    '60s',
    "After the drain delay: how long deliveries and operators' changes in flight may take to finish.",
  ),
});

export const limits = section('Limits of one replica.', {
  memoryBudget: setting(
    types.size(64 * 1024),
    'size',
    '64MiB',
    'All body buffers of the process together, except bodies of up to 64 KiB that are being received; at least three parts. A quarter is reserved for bodies up to 1 MiB.',
  ),
  maxConcurrentDeliveries: setting(
    types.count(1, 100_000),
    'number',
    256,
    'Deliveries that are received at the same time; a quarter is reserved for bodies up to 1 MiB. Further ones wait up to 10 s, while slow senders are rejected to make room, and are then answered 503.',
  ),
  idleTimeout: setting(types.duration(100), 'duration', '30s', 'Longest silence within a body.'),
  minBytesPerSecond: setting(
    types.count(0, 2 ** 30),
    'bytes per second',
    1024,
    'Slowest body; 0 turns the check off.',
  ),
  totalTimeout: setting(types.duration(1_000), 'duration', '6h', 'Longest time a body may take.'),
  quarantineBytes: setting(
    types.size(0),
    'size',
    '8MiB',
    'Largest undecodable body that is kept; at most the memory budget.',
  ),
});
