import { z } from 'zod';
import { CONTENT_TOKENS } from '../speech/wire.js';
import { EGRESS } from './egress.js';
import * as kinds from './kinds.js';
import { named, optional, required, section, setting } from './setting.js';

/**
 * Every setting there is, with its default and its documentation. The defaults here are the truth;
 * config/default.yaml and docs/configuration.md say the same, and tests hold them to it.
 */

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const NAME_EXPECTED =
  'a name of lower-case letters, digits and hyphens, at most 63, beginning with a letter or digit';
const SECRET = /^[\x21-\x7e]{8,4096}$/;
const PORT = 'port number; 0 takes a free one';
const DAY = 86_400_000;

const receiver = section('The public port: callbacks, /healthz and /readyz.', {
  host: setting(kinds.host(), 'host', '0.0.0.0', 'Address to listen on.'),
  port: setting(kinds.count(0, 65_535), 'port', 8080, `Public ${PORT}.`),
  publicUrl: optional(
    kinds.url(['http:', 'https:']),
    'address',
    'Address under which senders reach /callbacks; notification-config prints it and recovery knows our entries by it.',
  ),
  trustedProxies: setting(
    z.array(kinds.proxyRange()),
    'list of CIDRs or addresses',
    [],
    'Proxies whose X-Forwarded-For is believed. Only for peers in these ranges is the header looked at; a range of prefix 0 is refused.',
  ),
  keepAliveTimeout: setting(
    kinds.duration(1_000),
    'duration',
    '620s',
    "How long an idle connection stays open. Longer than every balancer's idle time-out (ALB 60 s, Google 600 s), or answers turn into 502.",
  ),
  headersTimeout: setting(
    kinds.duration(1_000),
    'duration',
    '30s',
    "Time for a request's headers to arrive.",
  ),
  drainDelay: setting(
    kinds.duration(0, 3_600_000),
    'duration',
    '5s',
    'After SIGTERM: how long requests are still taken while /readyz already says no, so that balancers notice.',
  ),
  drainDeadline: setting(
    kinds.duration(0, 3_600_000),
    'duration',
    '60s',
    "After the drain delay: how long deliveries and operators' changes under way may take to finish.",
  ),
});

const admin = section('The admin port: metrics, admin API and dashboard.', {
  host: setting(
    kinds.host(),
    'host',
    '127.0.0.1',
    'Address to listen on. Beyond loopback only with configured tokens.',
  ),
  port: setting(kinds.count(0, 65_535), 'port', 8081, `Admin ${PORT}.`),
  hosts: setting(
    z.array(kinds.hostName()),
    'list of names',
    [],
    'Names besides addresses and inner names (without a dot, .local, .internal, .svc) under which /metrics may be asked for.',
  ),
  tokens: setting(
    named(
      NAME,
      NAME_EXPECTED,
      kinds.text(SECRET, 'a token of 8 to 4096 printable characters without spaces'),
    ),
    'map of name to token',
    {},
    'Bearer tokens by name; the name appears in the ledger beside every change. Without any, one is made at start and printed.',
  ),
});

const s3 = section(
  'Only for s3: addresses of `store.url`. Credentials left out come from the usual AWS chain.',
  {
    endpoint: optional(
      kinds.url(['http:', 'https:']),
      'address',
      'Endpoint of an S3-compatible store; AWS when not set.',
    ),
    region: optional(
      kinds.text(/^[A-Za-z0-9-]{1,64}$/, 'a region name such as eu-central-1'),
      'text',
      'Region of the bucket.',
    ),
    forcePathStyle: setting(
      kinds.flag(),
      'true or false',
      false,
      'Put the bucket into the path instead of the host name; most compatible stores need it.',
    ),
    accessKeyId: optional(
      kinds.text(/^[\x21-\x7e]{1,256}$/, 'an access key id'),
      'text',
      'Access key; better left to the environment or the platform.',
    ),
    secretAccessKey: optional(
      kinds.text(/^[\x21-\x7e]{1,512}$/, 'a secret access key'),
      'secret',
      'Secret of the access key.',
    ),
    sessionToken: optional(
      kinds.text(/^[\x21-\x7e]{1,8192}$/, 'a session token'),
      'secret',
      'Session token of temporary credentials.',
    ),
    checksum: setting(
      kinds.oneOf(['sha256', 'crc32']),
      'sha256 or crc32',
      'sha256',
      'sha256 signs the hash of every body, which every S3 checks. crc32 costs less CPU, needs https, and is kept by AWS with the object.',
    ),
    sse: setting(
      kinds.oneOf(['none', 's3', 'kms']),
      'none, s3 or kms',
      'none',
      "Server-side encryption asked for with each object; none leaves it to the bucket's default.",
    ),
    kmsKeyId: optional(
      kinds.text(/^[\x21-\x7e]{1,2048}$/, 'a KMS key id or ARN'),
      'text',
      "KMS key for sse kms; the account's default key when not set.",
    ),
    storageClass: optional(
      kinds.text(
        // What is in these has to be restored, which takes hours, before it can be read.
        /^(?!(GLACIER|DEEP_ARCHIVE)$)[A-Z0-9_]{1,64}$/,
        'a storage class that can be read at once, such as STANDARD_IA or GLACIER_IR',
      ),
      'text',
      'Storage class of artefacts; ledger, quarantine and everything else take the default of the bucket.',
    ),
    connectTimeout: setting(kinds.duration(100), 'duration', '3s', 'Time to open a connection.'),
    requestTimeout: setting(
      kinds.duration(1_000),
      'duration',
      '15s',
      'Time for one request, parts excepted.',
    ),
    partTimeout: setting(kinds.duration(1_000), 'duration', '60s', 'Time for one attempt to upload a part.'),
    maxSockets: setting(
      kinds.count(1, 10_000),
      'number',
      64,
      'Connections for writes, as many again for reads, and as many for control; downloads have their own.',
    ),
    retries: setting(kinds.count(0, 20), 'number', 4, 'Further tries of a request that may be repeated.'),
    conditionalWrites: setting(
      kinds.oneOf(['native', 'emulated']),
      'native or emulated',
      'native',
      'emulated accepts a store without atomic conditional writes: it looks first and writes then, and two deliveries of one artefact at the same moment may overwrite each other.',
    ),
  },
);

const store = section('Where everything is kept.', {
  url: setting(
    kinds.storeUrl(),
    'address',
    'file:./data',
    'file:<directory>, relative to the working directory, or s3://<bucket>/<prefix>.',
  ),
  partSize: setting(
    kinds.size(1024, 2 ** 30),
    'size',
    '8MiB',
    'Size of a buffer and of an upload part. Bodies up to this size are one PUT; on S3 at least 5MiB.',
  ),
  fsync: setting(
    kinds.flag(),
    'true or false',
    true,
    'Only for file: addresses. false gives up durability across power loss.',
  ),
  sweepUploadsAfter: setting(
    kinds.duration(3_600_000, 365 * DAY),
    'duration',
    '24h',
    'Age at which an unfinished upload of ours is aborted; at least `limits.totalTimeout`.',
  ),
  canaryInterval: setting(
    kinds.duration(1_000, 3_600_000),
    'duration',
    '10s',
    'How often the store is proven writable for /readyz.',
  ),
  s3,
});

const credential = z.strictObject({
  headers: required(
    z.array(kinds.headerLine()).min(1, 'at least one header line').max(16, 'at most 16 header lines'),
    'list of header lines',
    'Complete lines `<Header-Name>: <value>`, exactly as in `auth_headers` of the job; all must match.',
  ),
  notBefore: optional(kinds.instant(), 'time', 'Not valid before.'),
  expires: optional(kinds.instant(), 'time', 'Not valid from then on.'),
});

const source = z.strictObject({
  credentials: setting(
    named(NAME, NAME_EXPECTED, credential),
    'map of name to credential',
    {},
    'Any one of them suffices. In production a source has at least one, or allowUnauthenticated.',
  ),
  allowUnauthenticated: setting(
    kinds.flag(),
    'true or false',
    false,
    'true lets a source without credentials start in production: it takes everything its allowlist admits, unless the request was forwarded or comes from a page.',
  ),
  allow: setting(
    z.array(kinds.allowEntry()),
    'list of regions, CIDRs, addresses or any',
    ['127.0.0.0/8', '::1'],
    'Who may send. Region names stand for the addresses in `egress`; any turns the check off.',
  ),
  allowMode: setting(
    kinds.oneOf(['enforce', 'report']),
    'enforce or report',
    'enforce',
    'report lets refused addresses pass, but counts and records what would have been refused.',
  ),
  contents: setting(
    z.array(kinds.oneOf(CONTENT_TOKENS)),
    'list of content names',
    ['transcript'],
    'What jobs of this source ask for; used by notification-config, for lone bodies and by recovery.',
  ),
  maxBytes: setting(kinds.size(1), 'size', '5GiB', 'Largest body, decoded.'),
  keyPrefix: setting(kinds.keyPrefix(), 'text', '', "Folder in front of the source's jobs/."),
});

const limits = section('What one replica takes on.', {
  memoryBudget: setting(
    kinds.size(64 * 1024),
    'size',
    '64MiB',
    'All body buffers of the process together, bodies of up to 64 KiB on their way in excepted; at least three parts. A quarter is for bodies up to 1 MiB.',
  ),
  maxConcurrentDeliveries: setting(
    kinds.count(1, 100_000),
    'number',
    256,
    'Deliveries at a time; more are answered 503.',
  ),
  maxBudgetWaiters: setting(
    kinds.count(1, 100_000),
    'number',
    64,
    'Deliveries that may wait for buffers before new ones are answered 503; those of bodies up to 1 MiB and of larger ones count apart.',
  ),
  idleTimeout: setting(kinds.duration(100), 'duration', '30s', 'Longest silence within a body.'),
  minBytesPerSecond: setting(
    kinds.count(0, 2 ** 30),
    'bytes per second',
    1024,
    'Slowest body; 0 turns the check off.',
  ),
  minRateGrace: setting(
    kinds.duration(0),
    'duration',
    '30s',
    'Time from the beginning of a body before its rate is judged.',
  ),
  totalTimeout: setting(kinds.duration(1_000), 'duration', '6h', 'Longest time a body may take.'),
  quarantineBytes: setting(
    kinds.size(0),
    'size',
    '8MiB',
    'Largest undecodable body that is kept; at most the memory budget.',
  ),
  maxParts: setting(kinds.count(1, 10_000), 'number', 100, 'Parts of a multipart body.'),
  drainBytes: setting(
    kinds.size(0),
    'size',
    '1MiB',
    'How much of a refused body is read so that the sender sees the answer.',
  ),
  drainTime: setting(
    kinds.duration(0),
    'duration',
    '5s',
    'How long a refused sender has to read its answer before the connection is cut.',
  ),
  maxDownloads: setting(
    kinds.count(1, 10_000),
    'number',
    32,
    'Downloads of artefacts at a time on the admin port; further ones wait 5 s and are answered 503 then.',
  ),
  downloadIdleTimeout: setting(
    kinds.duration(1_000),
    'duration',
    '60s',
    'Time after which a download whose client takes nothing is cut; players resume where they were.',
  ),
  maxConnections: setting(
    kinds.count(16, 1_000_000),
    'number',
    2048,
    'Connections to the public port at a time, fewer where the process may not open that many files. For a newcomer the one that has been idle longest is closed, those of strangers first.',
  ),
  maxAdminConnections: setting(kinds.count(16, 1_000_000), 'number', 256, 'The same for the admin port.'),
  maxHeaderBytes: setting(kinds.size(1024, 2 ** 20), 'size', '16KiB', 'Request line and headers together.'),
});

const batchRegion = (name: string) =>
  section(`Batch region ${name.toUpperCase()}.`, {
    batchUrl: optional(
      kinds.url(['http:', 'https:']),
      'address',
      `Address of the jobs API in ${name.toUpperCase()}, without /v2.`,
    ),
  });

const realtimeHost = (where: string) =>
  optional(kinds.url(['ws:', 'wss:']), 'address', `Realtime address, ${where}, without /v2.`);

const speech = section("The speech service's own API, for recovery and realtime.", {
  apiKey: optional(
    kinds.text(/^[\x21-\x7e]{8,4096}$/, 'an API key'),
    'secret',
    'Long-lived key of the service.',
  ),
  auth: setting(
    kinds.oneOf(['apiKey', 'temporaryKey']),
    'apiKey or temporaryKey',
    'apiKey',
    'Call with the key itself or with short-lived keys made from it.',
  ),
  temporaryKeyTtl: setting(kinds.duration(60_000, DAY), 'duration', '10m', 'Lifetime of temporary keys.'),
  keysUrl: optional(kinds.url(['http:', 'https:']), 'address', 'Address of the key service.'),
  regions: section('Batch endpoints; a region without an address is not asked.', {
    eu1: batchRegion('eu1'),
    eu2: batchRegion('eu2'),
    us1: batchRegion('us1'),
    us2: batchRegion('us2'),
    au1: batchRegion('au1'),
  }),
  realtime: section('Realtime hosts.', {
    global: realtimeHost('nearest region'),
    eu: realtimeHost('EU1'),
    us: realtimeHost('US1'),
    au: realtimeHost('AU1'),
  }),
  paths: section('Paths below a batch address; `{id}` stands for the job.', {
    list: setting(kinds.pathTemplate(false), 'path', '/v2/jobs/', 'Job list.'),
    record: setting(kinds.pathTemplate(true), 'path', '/v2/jobs/{id}', 'Job record.'),
    transcript: setting(kinds.pathTemplate(true), 'path', '/v2/jobs/{id}/transcript', 'Transcript.'),
    media: setting(kinds.pathTemplate(true), 'path', '/v2/jobs/{id}/data', 'Media of the job.'),
    usage: setting(kinds.pathTemplate(false), 'path', '/v2/usage', 'Usage statistics.'),
  }),
  maxRequestsPerSecond: setting(
    kinds.count(1, 1_000),
    'number',
    20,
    'Requests to one region; the service advises below 50.',
  ),
  connectTimeout: setting(kinds.duration(100), 'duration', '10s', 'Time to open a connection.'),
  requestTimeout: setting(
    kinds.duration(1_000),
    'duration',
    '30s',
    'Time to the beginning of an answer, and longest silence within one.',
  ),
  minBytesPerSecond: setting(
    kinds.count(0, 2 ** 30),
    'bytes per second',
    1024,
    'Slowest download, judged over requestTimeout; 0 turns the check off.',
  ),
  retries: setting(
    kinds.count(0, 20),
    'number',
    4,
    'Further tries after 429, 5xx and network trouble, also within a download.',
  ),
  retention: setting(
    kinds.duration(3_600_000, 3650 * DAY),
    'duration',
    '7d',
    'How long the service keeps results.',
  ),
  retentionWarning: setting(
    kinds.duration(0, 3650 * DAY),
    'duration',
    '2d',
    'Warn when an unrecovered job has less than this left.',
  ),
});

const recovery = section('Fetching what should have arrived.', {
  interval: setting(
    kinds.durationOrOff(1_000),
    'duration or off',
    '15m',
    'How often this replica reconciles by itself, as soon as speech has an API key and an address. Off where a CronJob does it.',
  ),
  window: setting(
    kinds.duration(60_000, 3650 * DAY),
    'duration',
    '48h',
    'How far back every run looks at least.',
  ),
  grace: setting(kinds.duration(0, 30 * DAY), 'duration', '10m', 'Younger jobs may still be on their way.'),
  concurrency: setting(kinds.count(1, 100), 'number', 4, 'Jobs fetched at a time.'),
});

const capture = section('Live sessions.', {
  rescueFolder: optional(
    kinds.text(/^[^\0]{1,1024}$/, 'a folder on a local disk'),
    'folder',
    'Where `capture` keeps what is final of a running session; `capture` and `serve` archive from there what a killed process left. When not set: transcript-receiver/captures below $XDG_STATE_HOME or ~/.local/state.',
  ),
});

const egressRegion = (region: keyof typeof EGRESS.regions) =>
  setting(
    z.array(kinds.range()),
    'list of CIDRs or addresses',
    [...EGRESS.regions[region]],
    `Addresses of ${region.toUpperCase()}.`,
  );

const egress = section('Addresses the service sends callbacks from; spelled out in config/egress.yaml.', {
  takenOn: setting(
    kinds.text(/^\d{4}-\d{2}-\d{2}$/, 'a date such as 2026-01-31'),
    'date',
    EGRESS.takenOn,
    'When the table was taken from the interface document.',
  ),
  regions: section('Addresses by region; a list replaces the one it overrides.', {
    eu1: egressRegion('eu1'),
    eu2: egressRegion('eu2'),
    us1: egressRegion('us1'),
    us2: egressRegion('us2'),
    au1: egressRegion('au1'),
  }),
});

const log = section('Logging.', {
  level: setting(
    kinds.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'level',
    'info',
    'trace, debug, info, warn, error, fatal or silent.',
  ),
  pretty: setting(
    kinds.oneOf(['auto', 'true', 'false']),
    'auto, true or false',
    'auto',
    'Readable lines instead of JSON; auto on a terminal in development.',
  ),
});

export const configSchema = z.strictObject({
  receiver,
  admin,
  store,
  sources: setting(
    named(NAME, NAME_EXPECTED, source),
    'map of name to source',
    {},
    'Callback endpoints /callbacks/<name>. A source set to null is removed. Outside production, and only while none is configured, there is a source default for this machine; in production none is built in.',
  ),
  limits,
  speech,
  recovery,
  capture,
  log,
  replicaName: optional(
    kinds.text(/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/, 'a name of letters, digits, dots and hyphens'),
    'text',
    'Name of this process in ledger segments and logs; when not set the host name, with the process id unless that is 1.',
  ),
  egress,
});

/** The value the schema makes of a tree of settings. */
export type Settings = z.output<typeof configSchema>;
