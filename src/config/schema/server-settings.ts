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
  headersTimeout: setting(
    types.duration(1_000),
    'duration',
    '30s',
    "Time for a request's headers to arrive.",
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
  maxBudgetWaiters: setting(
    types.count(1, 100_000),
    'number',
    256,
    'Deliveries that may wait for buffers before new ones are answered 503; bodies up to 1 MiB and larger ones are counted separately.',
  ),
  idleTimeout: setting(types.duration(100), 'duration', '30s', 'Longest silence within a body.'),
  minBytesPerSecond: setting(
    types.count(0, 2 ** 30),
    'bytes per second',
    1024,
    'Slowest body; 0 turns the check off.',
  ),
  minRateGrace: setting(
    types.duration(0),
    'duration',
    '30s',
    'Time from the beginning of a body before its rate is judged.',
  ),
  totalTimeout: setting(types.duration(1_000), 'duration', '6h', 'Longest time a body may take.'),
  quarantineBytes: setting(
    types.size(0),
    'size',
    '8MiB',
    'Largest undecodable body that is kept; at most the memory budget.',
  ),
  maxParts: setting(types.count(1, 10_000), 'number', 100, 'Largest number of parts in a multipart body.'),
  drainBytes: setting(
    types.size(0),
    'size',
    '1MiB',
    'How much of a rejected body is read, so that the sender receives the answer.',
  ),
  drainTime: setting(
    types.duration(0),
    'duration',
    '5s',
    'How long a rejected sender has to read its answer before the connection is closed.',
  ),
  maxDownloads: setting(
    types.count(1, 10_000),
    'number',
    32,
    'Concurrent downloads of artefacts on the admin port; further ones wait 5 s and are then answered 503.',
  ),
  downloadIdleTimeout: setting(
    types.duration(1_000),
    'duration',
    '60s',
    'Time after which a download whose client reads nothing is closed; players resume where they stopped.',
  ),
  maxConnections: setting(
    types.count(16, 1_000_000),
    'number',
    2048,
    'Concurrent connections to the public port; fewer where the process may not open that many files. A new connection closes the one that has been idle longest, unauthenticated ones first.',
  ),
  maxAdminConnections: setting(types.count(16, 1_000_000), 'number', 256, 'The same for the admin port.'),
  maxHeaderBytes: setting(
    types.size(1024, 2 ** 20),
    'size',
    '16KiB',
    'Largest size of request line and headers together.',
  ),
});
