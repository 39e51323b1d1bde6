import type { S3Client } from '@aws-sdk/client-s3';
import { type DefaultProviderInit, defaultProvider } from '@aws-sdk/credential-provider-node';
import { asFailure, S3Failure } from './s3-failure.js';
import type { SigningKeyHolder } from './wire/s3-signer.js';

interface Session extends SigningKeyHolder {
  readonly expiration?: Date;
}

/** With `forceRefresh` past every cache. */
type Provider = (options: { readonly forceRefresh: boolean }) => Promise<Session>;

/** AWS issues the next session five minutes before the current one expires. */
const REFRESH_BEFORE_MS = 300_000;
/** Least interval between two refreshes while the current session is valid. */
const REFRESH_PAUSE_MS = 10_000;
/** Least interval between two questions for credentials other than those that the store refuses. */
const RENEWAL_PAUSE_MS = 5_000;

/**
 * Keeps the session of a credential provider. The SDK's own cache calls the provider with every request once less than
 * five minutes are left, which floods a provider that has no newer session, and keeps keys without an expiry forever.
 *
 * @param clock milliseconds since the epoch
 */
export class CredentialChain {
  readonly #provider: Provider;
  readonly #clock: () => number;
  #held: Session | null = null;
  #pending: Promise<Session> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(provider: Provider, clock: () => number = Date.now) {
    this.#provider = provider;
    this.#clock = clock;
  }

  /** Sends a request, and once more where the store refuses the credentials and there are others. */
  async use<Answer>(attempt: (holder: SigningKeyHolder) => Promise<Answer>): Promise<Answer> {
    const held = await this.get();
    try {
      return await attempt(held);
    } catch (error) {
      const others = await this.after(error, held);
      if (others === null) throw error;
      return attempt(others);
    }
  }

  /** While the current session is valid a refresh neither delays nor fails a request. */
  async get(): Promise<Session> {
    const held = this.#held;
    if (held === null) return this.#ask(false);
    const left = (held.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - this.#clock();
    if (left <= 0) return this.#ask(false);
    // A failed refresh is retried after the pause; the session is still valid.
    if (left < REFRESH_BEFORE_MS && this.#isDue(this.#askedAt, REFRESH_PAUSE_MS))
      this.#ask(false).catch(() => undefined);
    return held;
  }

  /** As `get`, for one request: the SDK keeps a session until the last minutes before it expires, so that it gets one that has expired. */
  async getOnce(): Promise<Session> {
    return { ...(await this.get()), expiration: new Date(0) };
  }

  /**
   * After a request failed: credentials other than it was signed with, or null when its failure has another cause or no others are
   * known yet. Keys in a file have no expiry that announces a rotation. Any number of refused requests share one question to the provider,
   * and ask again no sooner than `RENEWAL_PAUSE_MS` later.
   */
  async after(error: unknown, refused: SigningKeyHolder): Promise<SigningKeyHolder | null> {
    if (!isRefusal(asFailure(error))) return null;
    // A request that was signed before the last renewal needs no other.
    if (!this.#hasOthers(refused)) {
      if (this.#isDue(this.#renewedAt, RENEWAL_PAUSE_MS)) {
        this.#renewedAt = this.#clock();
        this.#ask(true).catch(() => undefined);
      }
      await this.#pending?.catch(() => undefined);
    }
    return this.#hasOthers(refused) ? this.#held : null;
  }

  #hasOthers(refused: SigningKeyHolder): boolean {
    const held = this.#held;
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

  #ask(forceRefresh: boolean): Promise<Session> {
    this.#askedAt = this.#clock();
    this.#pending ??= this.#provider({ forceRefresh })
      .then((session) => {
        this.#held = session;
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
/** An answer to HEAD has no code; AWS answers 400 to an expired session there. */
const WITHOUT_CODE = new Set(['no error code', 'Unknown', 'UnknownError', 'Forbidden', '400', '401', '403']);

function isRefusal({ status, code }: S3Failure): boolean {
  if (REFUSALS.has(code)) return true;
  return (status === 400 || status === 401 || status === 403) && WITHOUT_CODE.has(code);
}

/**
 * The session of the AWS chain: environment, shared files, web identity, metadata services. An error names what each of them lacks.
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
    // The loader of shared files remembers what it has read for the life of the process.
    ignoreCache: true,
    // What a provider lacks is only logged when the chain goes on to the next.
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
 * A provider's error is not an S3 response, whatever its own status (a token service's 404 must not make an object missing). With status
 * null it is retried: a metadata service that is away for a moment fails in the same way as one that does not exist.
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
