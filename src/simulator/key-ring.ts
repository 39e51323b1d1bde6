import { createSecretKey, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import type { Clock } from '../lib/time/clock.js';
import type { KeyType } from '../speech/wire.js';

/** Who a request comes from. */
type Caller =
  | { readonly kind: 'api-key' }
  | { readonly kind: 'temporary-key'; readonly type: KeyType; readonly clientRef: string | null };

export type KeyRing = ReturnType<typeof createKeyRing>;

export function createKeyRing(apiKey: string, clock: Clock) {
  let secret = createSecretKey(randomBytes(32));

  const temporary = async (token: string): Promise<Caller | null> => {
    try {
      const { payload } = await jwtVerify(token, secret, { currentDate: new Date(clock.now()) });
      const clientRef = typeof payload.client_ref === 'string' ? payload.client_ref : null;
      return { kind: 'temporary-key', type: payload.type === 'rt' ? 'rt' : 'batch', clientRef };
    } catch {
      return null;
    }
  };

  return {
    /** Null when the header is missing, or its key is wrong or has expired. */
    async identify(authorization: string | undefined): Promise<Caller | null> {
      const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
      if (!token) return null;
      if (same(apiKey, token)) return { kind: 'api-key' };
      return temporary(token);
    },
    /** A signed JWT whose `exp - iat` is `ttl` seconds. */
    issue(type: KeyType, ttl: number, clientRef: string | null): Promise<string> {
      const issuedAt = Math.floor(clock.now() / 1000);
      return new SignJWT({ type, ...(clientRef === null ? {} : { client_ref: clientRef }) })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer('speech-key-service')
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttl)
        .sign(secret);
    },
    /** Revokes every temporary key issued so far. */
    revokeTemporaryKeys(): void {
      secret = createSecretKey(randomBytes(32));
    },
  };
}

function same(one: string, other: string): boolean {
  const a = Buffer.from(one);
  const b = Buffer.from(other);
  return a.length === b.length && timingSafeEqual(a, b);
}
