import type { ProxySettings } from '../../lib/outbound/proxy-settings.js';

/** Settings of an S3 store besides bucket and prefix; absent and null settings have their defaults. */
export interface S3Settings {
  /** URL of a compatible server; default: AWS S3 of the region. */
  readonly endpoint?: string | null | undefined;
  /** Default: the SDK's own region chain (AWS_REGION, shared config), else `us-east-1`. */
  readonly region?: string | null | undefined;
  /** True puts the bucket into the path instead of the host name, as most compatible servers need. Default false. */
  readonly forcePathStyle?: boolean | undefined;
  /** Both or neither; default: the SDK's credential provider chain (environment, profile, IRSA, instance role). */
  readonly accessKeyId?: string | null | undefined;
  readonly secretAccessKey?: string | null | undefined;
  readonly sessionToken?: string | null | undefined;
  /**
   * How bodies are protected in transit. `sha256` signs the hash of every body, which every S3 server checks. `crc32` sends
   * `x-amz-checksum-crc32`, which AWS stores with the object, and leaves the payload unsigned over https, which costs less
   * CPU. Default `sha256`.
   */
  readonly checksum?: S3ChecksumMode | undefined;
  readonly sse?: S3Encryption | null | undefined;
  /** Storage class of objects with content of jobs, e.g. `STANDARD_IA`. All others have the bucket's. */
  readonly storageClass?: string | null | undefined;
  /** Puts `kind` and `source` as object tags on objects with content of jobs. Default false. */
  readonly tags?: boolean | undefined;
  /** Account id: S3 refuses every request when the bucket belongs to another account. Default: not checked. */
  readonly expectedBucketOwner?: string | null | undefined;
  /** Retention of artefacts and of objects in `folders`. Default: none. */
  readonly lock?: S3Lock | null | undefined;
  /**
   * `native`: the server's conditional writes; the start-up probe rejects a server on which they do not hold. `emulated`,
   * for servers without them: a HEAD, then an unconditional write; concurrent writers can overwrite each other. Default
   * `native`.
   */
  readonly conditionalWrites?: 'native' | 'emulated' | undefined;
  /** File with trusted certificates in PEM. Default: those of Node. */
  readonly caBundle?: string | null | undefined;
  /** Proxies that connections go through. Default: none. */
  readonly proxies?: ProxySettings | undefined;
  /** Milliseconds to a connected socket. Default 3,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds for one attempt; for a body over 1 MiB: for each MiB to be accepted by the connection. Default 15,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds that one attempt to send a part, or another body over 1 MiB, may take. Default 60,000. */
  readonly partTimeoutMs?: number | undefined;
  /** Further attempts after the first. Default 4. */
  readonly retries?: number | undefined;
  /** Upper bound of the pause before the first retry, in milliseconds; doubles each time, and half of it is random. Default 200. */
  readonly retryDelayMs?: number | undefined;
  /** Milliseconds after which no further attempt begins. Default 45,000. */
  readonly retryDeadlineMs?: number | undefined;
  /** Connections for writes, and as many each for reads and for control. Default 64. */
  readonly maxSockets?: number | undefined;
}

export interface S3StoreOptions {
  readonly bucket: string;
  /** Key prefix, empty or ending in `/`. */
  readonly prefix: string;
  readonly partSize: number;
  readonly settings: S3Settings;
  /** Id that the marker must have; null: any. */
  readonly id?: string | null;
  /** Called once for each message for the operator that is no failure. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** Object Lock: a version cannot be removed before its time, in mode `COMPLIANCE` not even by the account's owner. */
export interface S3Lock {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE';
  /** Days after the write. */
  readonly days: number;
  /** Folders of keys that are locked besides artefacts, each ending in `/`. */
  readonly folders: readonly string[];
}

type S3ChecksumMode = 'sha256' | 'crc32';

type S3Encryption =
  | { readonly mode: 'AES256' }
  | { readonly mode: 'aws:kms'; readonly keyId?: string | null | undefined };
