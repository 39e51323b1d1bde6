import type { S3Client } from '@aws-sdk/client-s3';
import { S3Failure } from './s3-failure.js';

interface Identity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

type Provider = (options?: Record<string, unknown>) => Promise<Identity>;

/** AWS issues the next session five minutes before the current one expires. */
const REFRESH_BEFORE_MS = 300_000;
/** Least interval between two refreshes while the current session is valid. */
const REFRESH_PAUSE_MS = 10_000;

/**
 * Caches the session of a credential provider. The SDK's own cache calls the provider with every request once less than
 * five minutes are left, which floods a provider that has no newer session.
 *
 * While the current session is valid a refresh neither delays nor fails a request. `forceRefresh` asks the provider in any case.
 */
export function cachedCredentials(provider: Provider, clock: () => number = Date.now): Provider {
  let held: Identity | null = null;
  let pending: Promise<Identity> | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;

  function ask(options?: Record<string, unknown>): Promise<Identity> {
    askedAt = clock();
    pending ??= provider(options)
      .then((identity) => {
        held = identity;
        return identity;
      })
      .finally(() => {
        pending = null;
      });
    return pending;
  }

  return async (options) => {
    // The store has refused those that are held.
    if (held === null || options?.forceRefresh === true) return ask(options);
    const left = (held.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - clock();
    if (left <= 0) return ask(options);
    // A failed refresh is retried after the pause; the session is still valid.
    if (left < REFRESH_BEFORE_MS && Math.abs(clock() - askedAt) >= REFRESH_PAUSE_MS)
      ask(options).catch(() => undefined);
    return held;
  };
}

/**
 * Makes a client without fixed credentials use the AWS chain with a cache, and report which of its providers failed and
 * why.
 *
 * A provider's error is not an S3 response, whatever its own status (a token service's 404 must not make an object
 * missing). It is reported with status null, so that it is retried: a metadata service that is away for a moment fails
 * in the same way as one that does not exist.
 */
export function useCredentialChain(client: S3Client): void {
  const { config } = client;
  const trail = createTrail();
  const provider = config.credentialDefaultProvider({
    ...config,
    parentClientConfig: config,
    // The loader of shared files remembers what it has read for the life of the process.
    ignoreCache: true,
    logger: trail.logger,
  } as never) as unknown as Provider;
  const reporting: Provider = async (options) => {
    trail.clear();
    try {
      return await provider(options);
    } catch (error) {
      throw credentialsFailure(error, trail.text());
    }
  };
  config.credentials = cachedCredentials(reporting) as typeof config.credentials;
}

function credentialsFailure(error: unknown, trail: string): S3Failure {
  const { message } = error as { message?: unknown };
  const said = String(message).slice(0, 200);
  const detail = trail === '' ? said : `${said} (${trail})`;
  return new S3Failure({ status: null, code: 'CredentialsProviderError', detail }, { cause: error });
}

/** Providers that the chain uses only when they are requested by name. */
const ON_REQUEST = /inputs do not include SSO fields/;

/** Collects the reasons of single providers, which the chain only logs. */
function createTrail() {
  const reasons = new Map<string, string>();
  let current = 'environment';
  const debug = (...words: unknown[]): void => {
    const line = String(words[0]);
    const [, name] = /::(\w+)/.exec(line) ?? [];
    if (name !== undefined) current = name;
    const [, reason] = /^@smithy\/property-provider (?:->|\(!\)) (.*)/.exec(line) ?? [];
    if (reason === undefined || ON_REQUEST.test(reason) || reason.startsWith('Could not load cred')) return;
    reasons.set(current, reason.slice(0, 160));
  };
  const ignore = (): void => undefined;
  return {
    logger: { trace: ignore, debug, info: ignore, warn: ignore, error: ignore },
    clear: () => {
      reasons.clear();
      current = 'environment';
    },
    text: () => [...reasons].map(([name, reason]) => `${name}: ${reason}`).join('; '),
  };
}
