import { createHmac } from 'node:crypto';

/** The three headers of Standard Webhooks. */
export type Signed = {
  readonly 'webhook-id': string;
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string;
  /** One signature per secret, separated by spaces. */
  readonly 'webhook-signature': string;
};

/**
 * Signs a body as Standard Webhooks asks. Also useful in tests of a consumer.
 *
 * @param secrets each `whsec_` and base64; several while a secret is rotated
 * @throws TypeError for a malformed secret, or none
 */
export function sign(
  id: string,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  now: Date = new Date(),
): Signed {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signatures = secretKeys(secrets).map(
    (key) => `v1,${signatureOf(key, id, timestamp, body).toString('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** HMAC-SHA256 over id, timestamp and the bytes of the body. */
export function signatureOf(key: Buffer, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

/** Decodes the secrets. Throws a TypeError that does not show the secret. */
export function secretKeys(secrets: string | readonly string[]): Buffer[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (list.length === 0) throw new TypeError('There is no secret.');
  return list.map((secret) => {
    const encoded = typeof secret === 'string' ? secret.replace(/^whsec_/, '') : '';
    // Node's decoder skips what is not base64, and would accept any text as a short key.
    if (
      !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(encoded) ||
      encoded === ''
    ) {
      throw new TypeError('A secret must be "whsec_" followed by base64.');
    }
    return Buffer.from(encoded, 'base64');
  });
}
