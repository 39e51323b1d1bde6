import type { S3Client } from '@aws-sdk/client-s3';
import { asFailure, type S3Failure } from './s3-failure.js';
import type { SigningKeyHolder } from './wire/s3-signer.js';

/** Asks a provider for credentials once more, past every cache. Rejects where it has none. */
type AskAgain = () => Promise<SigningKeyHolder>;

/** Replaces credentials that the store refuses: keys in a file have no expiry that announces a rotation. */
export interface CredentialRenewal {
  /**
   * After a request failed: credentials other than it was signed with, or null when its failure has another cause or no others are
   * known yet. Any number of refused requests share one question to the provider, and ask again no sooner than `PAUSE_MS` later.
   */
  after(error: unknown, refused: SigningKeyHolder): Promise<SigningKeyHolder | null>;
}

const PAUSE_MS = 5_000;

export function createCredentialRenewal(
  askAgain: AskAgain,
  clock: () => number = () => performance.now(),
): CredentialRenewal {
  let latest: Promise<SigningKeyHolder | null> = Promise.resolve(null);
  let askedAt = Number.NEGATIVE_INFINITY;

  return {
    async after(error, refused) {
      if (!isRefusal(asFailure(error))) return null;
      // One that was signed before the last renewal needs no other.
      const known = await latest;
      if (known !== null && !areSame(known, refused)) return known;
      if (clock() - askedAt >= PAUSE_MS) {
        askedAt = clock();
        latest = askAgain().catch(() => null);
      }
      const found = await latest;
      return found === null || areSame(found, refused) ? null : found;
    },
  };
}

const REFUSALS = new Set([
  'AuthFailure',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  'InvalidToken',
  // A key whose secret was replaced keeps its id on some servers.
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
  'UnrecognizedClientException',
]);
/** An answer to HEAD has no code; AWS answers 400 to an expired session there. */
const WITHOUT_CODE = new Set(['no error code', 'Unknown', 'UnknownError', 'Forbidden', '400', '401', '403']);

function isRefusal({ status, code }: S3Failure): boolean {
  if (REFUSALS.has(code)) return true;
  return (status === 400 || status === 401 || status === 403) && WITHOUT_CODE.has(code);
}

function areSame(one: SigningKeyHolder, other: SigningKeyHolder): boolean {
  return (
    one.accessKeyId === other.accessKeyId &&
    one.secretAccessKey === other.secretAccessKey &&
    one.sessionToken === other.sessionToken
  );
}

/** The renewal of the chain of providers that `useCredentialChain` has set up. */
export function renewalOf({ config }: S3Client): CredentialRenewal {
  return createCredentialRenewal(() => config.credentials({ forceRefresh: true }));
}

/** Lets the SDK's requests be made once more with renewed credentials. */
export function renewWithSdk(client: S3Client, renewal: CredentialRenewal): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const held = await client.config.credentials();
      try {
        return await next(args);
      } catch (error) {
        if ((await renewal.after(error, held)) === null) throw error;
        return next(args);
      }
    },
    { step: 'initialize', name: 'renewCredentials', priority: 'low' },
  );
}
