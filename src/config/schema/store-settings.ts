import { optional, section, setting } from '../setting.js';
import { storageClasses } from '../storage-classes.js';
import * as types from '../value-types.js';

const DAY = 86_400_000;
const MIB = 1024 * 1024;

const s3 = section('For S3. Credentials that are not set come from the usual AWS chain.', {
  endpoint: optional(
    types.url(['http:', 'https:']),
    'address',
    'Endpoint of an S3-compatible store; AWS when not set.',
  ),
  region: optional(
    types.text(/^[A-Za-z0-9-]{1,64}$/, 'a region name such as eu-central-1'),
    'text',
    'Region of the bucket.',
  ),
  forcePathStyle: setting(
    types.flag(),
    'boolean',
    false,
    'Puts the bucket into the path; most compatible stores need it.',
  ),
  accessKeyId: optional(types.text(/^[\x21-\x7e]{1,256}$/, 'an access key id'), 'text', 'A role is better.'),
  secretAccessKey: optional(
    types.text(/^[\x21-\x7e]{1,512}$/, 'a secret access key'),
    'secret',
    'Secret of the access key.',
  ),
  checksum: setting(
    types.oneOf(['sha256', 'crc32']),
    'sha256 or crc32',
    'sha256',
    'sha256: every S3 server checks it. crc32: less CPU, requires https, and AWS stores it.',
  ),
  sse: setting(
    types.oneOf(['none', 's3', 'kms']),
    'none, s3 or kms',
    'none',
    "Server-side encryption; none uses the bucket's default.",
  ),
  kmsKeyId: optional(
    types.text(/^[\x21-\x7e]{1,2048}$/, 'a KMS key id or ARN'),
    'text',
    "KMS key; the account's default key when not set.",
  ),
  storageClass: optional(
    storageClasses(),
    'text, or map of kind to text',
    'Storage class of all artefacts, or by kind: transcript, jobinfo, data, attachment, quarantine.',
  ),
  tags: setting(
    types.flag(),
    'boolean',
    false,
    'Puts the object tags `kind` and `source` on artefacts and quarantined bodies, for lifecycle rules; needs their permissions.',
  ),
  expectedBucketOwner: optional(types.accountId(), 'text', 'AWS account that has to own the bucket.'),
  lock: section('Object Lock of artefacts and ledger segments, in a bucket that was created with it.', {
    mode: setting(
      types.oneOf(['none', 'governance', 'compliance']),
      'none, governance or compliance',
      'none',
      'compliance cannot be lifted by anybody.',
    ),
    days: optional(types.count(1, 36_500), 'number', 'Days from the write on; needed with `mode`.'),
  }),
  requestTimeout: setting(
    types.duration(1_000),
    'duration',
    '15s',
    'Time for one request; four times as long for bodies over 1 MiB.',
  ),
  retries: setting(types.count(0, 20), 'number', 4, 'Retries of a request that may be repeated.'),
  conditionalWrites: setting(
    types.oneOf(['native', 'emulated']),
    'native or emulated',
    'native',
    'emulated: for stores without atomic conditional writes; simultaneous deliveries may overwrite each other.',
  ),
});

export const ledger = section('The ledger.', {
  maxLinger: setting(
    types.duration(0, 5_000),
    'duration',
    '0ms',
    'How long a line may wait for others: fewer segments, later answers. 0ms: up to 20 ms under load.',
  ),
  compact: setting(
    types.flag(),
    'boolean',
    true,
    'Whether this process compacts whole hours; false where a CronJob does.',
  ),
  keepSegments: setting(
    types.durationOrForever(DAY, 3650 * DAY),
    'duration',
    'forever',
    'How long after its end the segments of a compacted hour are kept.',
  ),
  viewMemory: setting(
    types.size(4 * MIB, 65_536 * MIB),
    'size',
    '48MiB',
    'Memory for the newest ledger lines and failing jobs, for dashboard and admin API; some 600 bytes a line.',
  ),
});

export const store = section('The object store.', {
  url: setting(types.storeUrl(), 'address', 'file:./data', 'file:<directory> or s3://<bucket>/<prefix>.'),
  partSize: setting(
    types.size(1024, 2 ** 30),
    'size',
    '8MiB',
    'Size of a buffer and an upload part; on S3 at least 5MiB.',
  ),
  canaryInterval: setting(
    types.duration(1_000, 3_600_000),
    'duration',
    '10s',
    'How often a test object is written for /readyz.',
  ),
  s3,
});
