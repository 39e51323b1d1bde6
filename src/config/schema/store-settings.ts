import { optional, section, setting } from '../setting.js';
import * as types from '../value-types.js';

const DAY = 86_400_000;
const MIB = 1024 * 1024;

/** Excludes the classes whose objects can be read only after a restore that takes hours. */
const READABLE_AT_ONCE = /^(?!(GLACIER|DEEP_ARCHIVE)$)[A-Z0-9_]{1,64}$/;

const s3 = section('Credentials default to the usual AWS chain.', {
  endpoint: optional(types.url(['http:', 'https:']), 'address', 'Not set: AWS.'),
  region: optional(
    types.text(/^[A-Za-z0-9-]{1,64}$/, 'a region name such as eu-central-1'),
    'text',
    'Of the bucket.',
  ),
  forcePathStyle: setting(
    types.flag(),
    'boolean',
    false,
    'Bucket in the path: most compatible stores need it.',
  ),
  accessKeyId: optional(types.text(/^[\x21-\x7e]{1,256}$/, 'an access key id'), 'text', 'A role is better.'),
  secretAccessKey: optional(
    types.text(/^[\x21-\x7e]{1,512}$/, 'a secret access key'),
    'secret',
    'Its secret.',
  ),
  checksum: setting(
    types.oneOf(['sha256', 'crc32']),
    'sha256 or crc32',
    'sha256',
    'Every S3 server checks sha256; crc32 takes less CPU, needs https, and AWS stores it.',
  ),
  sse: setting(
    types.oneOf(['none', 's3', 'kms']),
    'none, s3 or kms',
    'none',
    "Encryption; none: the bucket's default.",
  ),
  kmsKeyId: optional(
    types.text(/^[\x21-\x7e]{1,2048}$/, 'a KMS key id or ARN'),
    'text',
    "Not set: the account's default key.",
  ),
  storageClass: optional(
    types.text(
      READABLE_AT_ONCE,
      'a storage class that can be read at once, such as STANDARD_IA or GLACIER_IR',
    ),
    'text',
    'Of artefacts, conflicts and quarantined bodies.',
  ),
  tags: setting(
    types.flag(),
    'boolean',
    false,
    'Object tags `kind` and `source` for lifecycle rules; need their permissions.',
  ),
  expectedBucketOwner: optional(types.accountId(), 'text', 'AWS account.'),
  lock: section('Object Lock of artefacts and the ledger, in a bucket created with it.', {
    mode: setting(
      types.oneOf(['none', 'governance', 'compliance']),
      'none, governance or compliance',
      'none',
      'Nobody can lift compliance.',
    ),
    days: optional(types.count(1, 36_500), 'number', 'From the write on; needed with `mode`.'),
  }),
  requestTimeout: setting(
    types.duration(1_000),
    'duration',
    '15s',
    'Per request; four times that for bodies over 1 MiB, while the store takes them.',
  ),
  retries: setting(types.count(0, 20), 'number', 4, 'Of requests that may be repeated.'),
  conditionalWrites: setting(
    types.oneOf(['native', 'emulated']),
    'native or emulated',
    'native',
    'emulated: for stores without atomic ones; simultaneous deliveries may overwrite each other.',
  ),
});

export const ledger = section('The ledger.', {
  maxLinger: setting(
    types.duration(0, 5_000),
    'duration',
    '0ms',
    'Longer: fewer segments, later answers. 0ms: up to 20 ms under load.',
  ),
  merge: setting(
    types.flag(),
    'boolean',
    true,
    'Merge whole hours of the ledger, and remove old records of what was sent.',
  ),
  keepSegments: setting(
    types.durationOrForever(DAY, 3650 * DAY),
    'duration',
    'forever',
    'How long segments of merged hours are kept.',
  ),
  index: section('The SQLite index of the ledger, which page, admin API and commands ask.', {
    path: optional(
      types.text(/\S/, 'the path of a file on a local disk'),
      'path',
      "Local disk only. null: in systemd's `CACHE_DIRECTORY`, else in the user's cache folder, else 64 MiB of memory.",
    ),
    days: setting(types.count(1, 3650), 'number', 30, 'How far back it reaches; open failures stay longer.'),
    maxBytes: setting(
      types.size(16 * MIB, 1024 * 1024 * MIB),
      'size',
      '2GiB',
      'The oldest hours go when it is larger; some 250 bytes a line.',
    ),
  }),
});

export const store = section('The object store.', {
  url: setting(types.storeUrl(), 'address', 'file:./data', 'file:<directory> or s3://<bucket>/<prefix>.'),
  id: optional(
    types.text(/^[A-Za-z0-9-]{1,64}$/, 'the id of a store, as doctor shows it'),
    'text',
    'Pins the store: another one is a fault, an empty one is not begun.',
  ),
  partSize: setting(
    types.size(1024, 2 ** 30),
    'size',
    '8MiB',
    'Buffer and upload part; on S3 at least 5MiB.',
  ),
  canaryInterval: setting(
    types.duration(1_000, 3_600_000),
    'duration',
    '10s',
    'Between test writes for /readyz.',
  ),
  s3,
});
