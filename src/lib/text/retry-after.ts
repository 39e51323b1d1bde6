/** Upper bound of what a server may ask for: beyond a day a wrong value is more likely than a real one. */
const MAX_RETRY_AFTER_MS = 86_400_000;

const SECONDS = /^\d+(\.\d+)?$/;
/** All three forms of an HTTP date begin with the day of the week. Source: RFC 9110, section 5.6.7. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Milliseconds that a `Retry-After` header asks for, between 0 and one day. Null when there is no header, or one
 * that holds neither seconds nor an HTTP date.
 *
 * @param value the header as Node or undici delivers it; the first of several counts
 * @param now milliseconds since the epoch, which a date is compared with
 */
export function parseRetryAfter(value: string | readonly string[] | undefined, now: number): number | null {
  const text = [value].flat()[0]?.trim() ?? '';
  const asked = SECONDS.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return Number.isNaN(asked) ? null : Math.min(Math.max(0, asked), MAX_RETRY_AFTER_MS);
}

/** NaN for what is not a date. The oldest form names no zone and means UTC, which `Date.parse` would not assume. */
function parseHttpDate(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;
}
