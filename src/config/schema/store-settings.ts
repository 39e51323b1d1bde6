import { optional, section, setting } from '../setting.js';
import { storageClasses } from '../storage-classes.js';
import * as types from '../value-types.js';

const DAY = 86_400_000;
const MIB = 1024 * 1024;

const s3 = section(
  'Only for an s3: `store.url`. Credentials that are not set come from the usual AWS chain.',
  {
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
      'true or false',
      false,
      'Puts the bucket into the path instead of the host name; most compatible stores need it.',
    ),
    accessKeyId: optional(
      types.text(/^[\x21-\x7e]{1,256}$/, 'an access key id'),
      'text',
      'Access key id. Prefer the credentials of the environment or the platform.',
    ),
    secretAccessKey: optional(
      types.text(/^[\x21-\x7e]{1,512}$/, 'a secret access key'),
      'secret',
      'Secret of the access key.',
    ),
    checksum: setting(
      types.oneOf(['sha256', 'crc32']),
      'sha256 or crc32',
      'sha256',
      'sha256 signs the hash of every body, which every S3 server checks. crc32 needs less CPU, requires https, and AWS stores it with the object.',
    ),
    sse: setting(
      types.oneOf(['none', 's3', 'kms']),
      'none, s3 or kms',
      'none',
      "Server-side encryption requested for each object; none uses the bucket's default.",
    ),
    kmsKeyId: optional(
      types.text(/^[\x21-\x7e]{1,2048}$/, 'a KMS key id or ARN'),
      'text',
      "KMS key for sse kms; the account's default key when not set.",
    ),
    storageClass: optional(
      storageClasses(),
      'text, or map of kind to text',
      "Storage class of all artefacts, or of the kinds transcript, jobinfo, data, attachment and quarantine; everything else uses the bucket's default.",
    ),
    tags: setting(
      types.flag(),
      'true or false',
      false,
      'Puts the object tags `kind` and `source` on artefacts and quarantined bodies, for lifecycle rules; needs s3:PutObjectTagging and, for the probe at start, s3:GetObjectTagging.',
    ),
    expectedBucketOwner: optional(
      types.accountId(),
      'text',
      'AWS account that has to own the bucket; S3 refuses every request to a bucket of another account.',
    ),
    lock: section('Object Lock of artefacts and ledger segments, in a bucket that was created with it.', {
      mode: setting(
        types.oneOf(['none', 'governance', 'compliance']),
        'none, governance or compliance',
        'none',
        'Retention put on every new artefact and ledger segment. compliance cannot be lifted by anybody.',
      ),
      days: optional(
        types.count(1, 36_500),
        'number',
        'Days of the retention, from the write on; needed with `mode`.',
      ),
    }),
    requestTimeout: setting(
      types.duration(1_000),
      'duration',
      '15s',
      'Time for one request; a body over 1 MiB may take four times as long.',
    ),
    retries: setting(types.count(0, 20), 'number', 4, 'Retries of a request that may be repeated.'),
    conditionalWrites: setting(
      types.oneOf(['native', 'emulated']),
      'native or emulated',
      'native',
      'emulated accepts a store without atomic conditional writes: it reads first and then writes, so two simultaneous deliveries of one artefact may overwrite each other.',
    ),
  },
);

export const ledger = section('The ledger.', {
  maxLinger: setting(
    types.duration(0, 5_000),
    'duration',
    '0ms',
    'How long the line of a callback may wait for further lines before its segment is written: fewer, larger segments, and callbacks answered later by up to this. The wait ends early once half of `limits.maxConcurrentDeliveries` wait. 0ms: an idle replica writes at once; under load a segment waits at most a third of a write, at most 20 ms, which costs no throughput.',
  ),
  compact: setting(
    types.flag(),
    'true or false',
    true,
    'Whether this process compacts whole hours of the ledger into Parquet files and rollups; false where a CronJob does.',
  ),
  keepSegments: setting(
    types.durationOrForever(DAY, 3650 * DAY),
    'duration',
    'forever',
    'When the segments of a compacted hour are deleted, counted from the end of the hour; only those whose every line was found in a Parquet file that was just read back.',
  ),
  viewMemory: setting(
    types.size(4 * MIB, 65_536 * MIB),
    'size',
    '48MiB',
    'Memory of the newest ledger lines and the failing jobs that a replica holds for its dashboard and admin API; some 600 bytes a line. It loads the newest lines first and stops when this is spent; later the oldest lines leave. Pages search older lines in the store, and name what they could not count.',
  ),
});

export const store = section('The object store.', {
  url: setting(
    types.storeUrl(),
    'address',
    'file:./data',
    'file:<directory>, relative to the working directory, or s3://<bucket>/<prefix>.',
  ),
  partSize: setting(
    types.size(1024, 2 ** 30),
    'size',
    '8MiB',
    'Size of a buffer and of an upload part. Bodies up to this size are one PUT; on S3 at least 5MiB.',
  ),
  canaryInterval: setting(
    types.duration(1_000, 3_600_000),
    'duration',
    '10s',
    'How often a test object is written for /readyz.',
  ),
  s3,
});
