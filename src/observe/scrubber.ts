const CENSOR = '[redacted]';

/** `Bearer` and `Basic` credentials, and JWTs wherever they stand (three base64url parts, the first a JSON object). */
const TOKENS = /\b(bearer|basic)\s+[\w.~+/-]{6,}=*|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/gi;

/** Query parameters that carry secrets: the realtime interface takes its key as `jwt`, S3 signs addresses. */
const PARAMETERS = /([?&](?:jwt|token|access_token|api_?key|sig|signature|x-amz-[a-z-]+)=)[^&\s"'\\]+/gi;

/**
 * Returns a function that removes secrets from a finished log line (JSON text). Known secrets shorter than 6 characters are
 * left to the field rules: removing them would damage ordinary words.
 */
export function createScrubber(secrets: readonly string[]): (line: string) => string {
  const known = knownSecrets(secrets);
  return (line) => {
    const scrubbed = line
      .replace(PARAMETERS, `$1${CENSOR}`)
      .replace(TOKENS, (_match, scheme?: string) => (scheme ? `${scheme} ${CENSOR}` : CENSOR));
    return known ? scrubbed.replace(known, CENSOR) : scrubbed;
  };
}

function knownSecrets(secrets: readonly string[]): RegExp | null {
  const forms = secrets.filter((secret) => secret.length >= 6).flatMap(writtenForms);
  if (forms.length === 0) return null;
  // Longest first, so that a secret that contains another one is removed as a whole.
  const alternatives = forms.sort((a, b) => b.length - a.length).map(escapeForRegExp);
  return new RegExp(alternatives.join('|'), 'g');
}

/** Forms of a secret in a JSON line: plain, JSON-escaped, or percent-encoded in a URL. */
function writtenForms(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)])];
}

function percentEncoded(secret: string): string {
  // encodeURIComponent throws on lone surrogates; the round trip replaces them.
  return encodeURIComponent(Buffer.from(secret).toString());
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
