/** Settings of an S3 store besides bucket and prefix; everything left out or null takes its default. */
export interface S3Settings {
  /** URL of a compatible server; default: AWS S3 of the region. */
  readonly endpoint?: string | null | undefined;
  /** Default: the SDK's own region chain (AWS_REGION, shared config), else `us-east-1`. */
  readonly region?: string | null | undefined;
  /** True puts the bucket into the path instead of the host name, as most compatibles want. Default false. */
  readonly forcePathStyle?: boolean | undefined;
  /** Both or neither; default: the SDK's credential provider chain (environment, profile, IRSA, instance role). */
  readonly accessKeyId?: string | null | undefined;
  readonly secretAccessKey?: string | null | undefined;
  readonly sessionToken?: string | null | undefined;
  /**
   * How the bytes are protected on their way. `sha256` signs the hash of every body, which every S3 checks.
   * `crc32` sends `x-amz-checksum-crc32` beside an unsigned payload: less CPU, kept by AWS with the object,
   * and only over https, where nobody in between can alter the body. Default `sha256`.
   */
  readonly checksum?: S3ChecksumMode | undefined;
  readonly sse?: S3Encryption | null | undefined;
  /** Of artefacts, e.g. `STANDARD_IA`; default, and of everything else: the bucket's. */
  readonly storageClass?: string | null | undefined;
  /**
   * `native`: the server's own conditional writes, refused by the start-up probe where they do not hold.
   * `emulated`: look first, then write unconditionally, for servers without them; two writers at the same
   * moment can then overwrite each other. Default `native`.
   */
  readonly conditionalWrites?: 'native' | 'emulated' | undefined;
  /** Milliseconds to a connected socket. Default 3,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds one attempt may take, bodies over 1 MiB excepted. Default 15,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds one attempt to send a part, or another body over 1 MiB, may take. Default 60,000. */
  readonly partTimeoutMs?: number | undefined;
  /** Further attempts after the first. Default 4. */
  readonly retries?: number | undefined;
  /** Milliseconds before the first repetition, or down to half of that at random; doubles each time. Default 200. */
  readonly retryDelayMs?: number | undefined;
  /** Milliseconds after which no further attempt begins. Default 45,000. */
  readonly retryDeadlineMs?: number | undefined;
  /** Connections for writes, for reads and for control, each. Default 64. */
  readonly maxSockets?: number | undefined;
}

export interface S3StoreOptions {
  readonly bucket: string;
  /** Key prefix, empty or ending in `/`. */
  readonly prefix: string;
  readonly partSize: number;
  readonly settings: S3Settings;
  /** Told what an operator should know although nothing failed; once each. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

export type S3ChecksumMode = 'sha256' | 'crc32';

export type S3Encryption =
  | { readonly mode: 'AES256' }
  | { readonly mode: 'aws:kms'; readonly keyId?: string | null | undefined };
