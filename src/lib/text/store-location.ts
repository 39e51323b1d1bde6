import { fileURLToPath } from 'node:url';

/** The location of a store, parsed from its address. */
type StoreLocation =
  | { readonly kind: 'file'; readonly directory: string }
  /** `prefix` is empty or ends in `/`. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

/** What an invalid address should look like. */
interface LocationFault {
  readonly fault: string;
}

/**
 * Reads `file:./data`, `file:///var/data`, `s3://bucket` and `s3://bucket/prefix`. Relative folders are allowed
 * because a container's working folder is a sensible default.
 */
export function readStoreLocation(address: string): StoreLocation | LocationFault {
  if (address.startsWith('file:')) return fileLocation(address);
  if (address.startsWith('s3:')) return s3Location(address);
  return { fault: 'file:<directory> or s3://<bucket>/<prefix>' };
}

function fileLocation(address: string): StoreLocation | LocationFault {
  const directory = address.slice('file:'.length);
  if (directory === '' || directory.includes('\0')) return { fault: 'file:<directory> with a directory' };
  // A shell expands `~`; in a configuration it would become a folder of that name.
  if (directory === '~' || directory.startsWith('~/'))
    return { fault: 'file:<directory> without ~, which only shells know' };
  if (!directory.startsWith('//')) return { kind: 'file', directory };
  if (!directory.startsWith('///'))
    return { fault: 'file:///<absolute directory> with three slashes, or file:<directory>' };
  try {
    return { kind: 'file', directory: fileURLToPath(address) };
  } catch {
    return { fault: 'file:///<absolute directory>, percent-encoded as in an address' };
  }
}

/** With the longest key below S3's 1024 bytes. */
const MAX_PREFIX_LENGTH = 127;
/** What AWS takes, and nothing that could end up elsewhere in a host name or path. */
const BUCKET = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const FOLDER = /^(?!\.{1,2}$)[A-Za-z0-9!_.*'()=-]+$/;

function s3Location(address: string): StoreLocation | LocationFault {
  // Keys in the address must not reach the log.
  if (address.includes('@'))
    return {
      fault: 's3://<bucket>/<prefix> without keys; they belong into store.s3 or the environment',
    };
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(address) ?? [];
  if (!BUCKET.test(bucket))
    return { fault: 's3://<bucket>/<prefix>; a bucket name has 3 to 63 of a-z, 0-9, "-" and single "."' };
  if (bucket.endsWith('--x-s3'))
    return {
      fault:
        's3://<bucket>/<prefix> of a general purpose bucket; directory buckets sign and list in other ways',
    };
  if (bucket.endsWith('--op-s3') || bucket.endsWith('.mrap'))
    return {
      fault:
        's3://<bucket>/<prefix> of a bucket in one region; access points of Outposts (--op-s3) and of several regions (.mrap) have no ' +
        'conditional writes',
    };
  const prefix = path.replace(/\/$/, '');
  if (prefix === '') return { kind: 's3', bucket, prefix };
  if (prefix.length > MAX_PREFIX_LENGTH || !prefix.split('/').every((folder) => FOLDER.test(folder)))
    return {
      fault: `s3://<bucket>/<prefix> with a prefix of up to ${MAX_PREFIX_LENGTH} letters, digits and !_.*'()=- between single slashes`,
    };
  return { kind: 's3', bucket, prefix: `${prefix}/` };
}
