/** A complete header line as a job submitter writes it into `auth_headers`: `<Header-Name>: <value>`. */
interface HeaderLine {
  /** Lower case, as Node delivers names. */
  readonly name: string;
  readonly value: string;
}

/** RFC 9110: a field name is a token. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Printable ASCII only: other characters do not survive every hop in one encoding. */
const FIELD_VALUE = /^[\x20-\x7e]+$/;

/** Headers that frame or route the request, or that the sender sets itself: they never carry the submitter's secret. */
const UNFIT = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-forwarded-for',
]);

/** Parses a header line. A fault describes the error without the value. */
export function parseHeaderLine(line: string): HeaderLine | { readonly fault: string } {
  if (/[\r\n]/.test(line)) return { fault: 'line breaks are not allowed in a header line' };
  const colon = line.indexOf(':');
  if (colon <= 0) return { fault: 'a header line has the form "<Header-Name>: <value>"' };
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1).trim();
  if (!FIELD_NAME.test(name))
    return { fault: 'the header name holds characters that header names cannot have' };
  if (UNFIT.has(name.toLowerCase())) return { fault: `the header ${name} cannot serve as a credential` };
  if (value === '') return { fault: `the header ${name} has no value` };
  if (!FIELD_VALUE.test(value)) return { fault: `the value of ${name} must be printable ASCII` };
  return { name: name.toLowerCase(), value };
}

/** The secret part of a header's value: the value without an authentication scheme. */
export function secretPart(header: HeaderLine): string {
  return header.name === 'authorization' ? header.value.replace(/^[A-Za-z]+ +/, '') : header.value;
}
