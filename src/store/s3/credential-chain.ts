import type { S3Client } from '@aws-sdk/client-s3';
import { type DefaultProviderInit, defaultProvider } from '@aws-sdk/credential-provider-node';
import { asFailure, S3Failure } from './s3-failure.js';
import type { SigningKeyHolder } from './wire/s3-signer.js';

interface Session extends SigningKeyHolder {
  readonly expiration?: Date;
}

/** Provider of sessions; `forceRefresh` bypasses every cache. */
type Provider = (options: { readonly forceRefresh: boolean }) => Promise<Session>;

/** AWS issues the next session five minutes before the current one expires. */
const REFRESH_BEFORE_MS = 300_000;
/** Minimum interval between two refreshes while the current session is valid. */
const REFRESH_PAUSE_MS = 10_000;
/** Minimum interval between two renewals of credentials that the store refuses. */
const RENEWAL_PAUSE_MS = 5_000;

/**
 * Caches the session of a credential provider. The SDK's own cache calls the provider with every request once less than
 * five minutes are left, which floods a provider that has no newer session, and keeps keys without an expiry forever.
 *
 * @param clock milliseconds since the epoch
 */
export class CredentialChain {
  readonly #provider: Provider;
  readonly #clock: () => number;
  #session: Session | null = null;
  #pending: Promise<Session> | null = null;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(provider: Provider, clock: () => number = Date.now) {
    this.#provider = provider;
    this.#clock = clock;
  }

  /** Sends a request, and retries it once with other credentials when the store refuses the first ones. */
  async use<Answer>(attempt: (holder: SigningKeyHolder) => Promise<Answer>): Promise<Answer> {
    const held = await this.get();
    try {
      return await attempt(held);
    } catch (error) {
      const others = await this.renewAfter(error, held);
      if (others === null) throw error;
      return attempt(others);
    }
  }

  /** The current session. While it is valid, a refresh neither delays nor fails a request. */
  async get(): Promise<Session> {
    const held = this.#session;
    if (held === null) return this.#fetch(false);
    const left = (held.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - this.#clock();
    if (left <= 0) return this.#fetch(false);
    // A failed refresh is retried after the pause; the session is still valid.
    if (left < REFRESH_BEFORE_MS && this.#isDue(this.#fetchedAt, REFRESH_PAUSE_MS))
      this.#fetch(false).catch(() => undefined);
    return held;
  }

  /** Like `get`, for one request: marked as expired, so that the SDK does not cache the session. */
  async getOnce(): Promise<Session> {
    return { ...(await this.get()), expiration: new Date(0) };
  }

  /**
   * Credentials other than those that a failed request was signed with, or null when the failure has another cause or no others are known
   * yet. Keys in a file have no expiry that announces a rotation. All refused requests share one call of the provider, which is repeated
   * after `RENEWAL_PAUSE_MS` at the earliest.
   */
  async renewAfter(error: unknown, refused: SigningKeyHolder): Promise<SigningKeyHolder | null> {
    if (!isRefusal(asFailure(error))) return null;
    // A request that was signed before the last renewal needs no other.
    if (!this.#hasOthers(refused)) {
      if (this.#isDue(this.#renewedAt, RENEWAL_PAUSE_MS)) {
        this.#renewedAt = this.#clock();
        this.#fetch(true).catch(() => undefined);
      }
      await this.#pending?.catch(() => undefined);
    }
    return this.#hasOthers(refused) ? this.#session : null;
  }

  #hasOthers(refused: SigningKeyHolder): boolean {
    const held = this.#session;
    return (
      held !== null &&
      (held.accessKeyId !== refused.accessKeyId ||
        held.secretAccessKey !== refused.secretAccessKey ||
        held.sessionToken !== refused.sessionToken)
    );
  }

  #isDue(last: number, pause: number): boolean {
    return Math.abs(this.#clock() - last) >= pause;
  }

  #fetch(forceRefresh: boolean): Promise<Session> {
    this.#fetchedAt = this.#clock();
    this.#pending ??= this.#provider({ forceRefresh })
      .then((session) => {
        this.#session = session;
        return session;
      })
      .finally(() => {
        this.#pending = null;
      });
    return this.#pending;
  }
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
/** Codes that stand for a missing one: an answer to HEAD has no code. AWS answers it with 400 for an expired session. */
const WITHOUT_CODE = new Set(['no error code', 'Unknown', 'UnknownError', 'Forbidden', '400', '401', '403']);

function isRefusal({ status, code }: S3Failure): boolean {
  if (REFUSALS.has(code)) return true;
  return (status === 400 || status === 401 || status === 403) && WITHOUT_CODE.has(code);
}

/**
 * The credentials of the AWS chain: environment, shared files, web identity, metadata services. An error names what each of them lacks.
 *
 * @param clientConfig for the requests of the chain to a token service
 */
export function createCredentialChain(clientConfig: DefaultProviderInit['clientConfig']): CredentialChain {
  const lacks = new Set<string>();
  const ignore = (): void => undefined;
  const debug = (line: unknown): void => {
    const [, reason] = String(line).split(' -> ');
    if (reason !== undefined) lacks.add(reason.slice(0, 160));
  };
  const provider = defaultProvider({
    clientConfig,
    // Otherwise the loader caches shared files for the life of the process.
    ignoreCache: true,
    // The chain only logs what a provider lacks before it tries the next one.
    logger: { debug, info: ignore, warn: ignore, error: ignore },
  });
  return new CredentialChain(async (options) => {
    lacks.clear();
    try {
      return await provider(options);
    } catch (error) {
      throw credentialsFailure(error, [...lacks].join(' '));
    }
  });
}

/**
 * A provider's error is not an S3 response, whatever its own status (a token service's 404 must not make an object missing). Status null
 * makes it retried: a metadata service that is briefly unavailable fails like one that does not exist.
 */
function credentialsFailure(error: unknown, lacks: string): S3Failure {
  const { message } = error as { message?: unknown };
  const said = String(message).slice(0, 200);
  const detail = lacks === '' ? said : `${said} (${lacks})`;
  return new S3Failure({ status: null, code: 'CredentialsProviderError', detail }, { cause: error });
}

/** Signs the SDK's requests with the session of the chain, and sends them as `CredentialChain.use` does. */
export function useCredentialChain(client: S3Client, chain: CredentialChain): void {
  client.middlewareStack.add((next) => (args) => chain.use(() => next(args)), {
    step: 'initialize',
    name: 'renewCredentials',
    priority: 'low',
  });
}
