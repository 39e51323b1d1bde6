/** Header values by lower-case name, every occurrence by itself, in the order they came. */
export type RequestHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** The first value of a header; `name` in lower case. */
export function header(headers: RequestHeaders, name: string): string | null {
  return headers[name]?.[0] ?? null;
}

/**
 * The encodings of a body, first applied first, as a Content-Encoding value: all lines of that header, then the transfer
 * codings other than `chunked`, which Node decodes itself. Null when there is nothing to decode.
 */
export function bodyEncodings(headers: RequestHeaders): string | null {
  if (headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined) return null;
  const { 'content-encoding': encodings = [], 'transfer-encoding': codings = [] } = headers;
  const transfer = codings.flatMap((value) => value.split(',')).map((coding) => coding.trim());
  const all = [...encodings, ...transfer.filter((coding) => coding.toLowerCase() !== 'chunked')];
  return all.length === 0 ? null : all.join(', ');
}

/** Headers that help to understand a body that could not be decoded. Any other may hold a secret of the submitter. */
const STORABLE = [
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-transfer-encoding',
  'content-type',
  'date',
  'expect',
  'host',
  'transfer-encoding',
  'user-agent',
];

/** The headers that may be stored: well-known ones that carry no credential. */
export function storableHeaders(
  headers: RequestHeaders,
  credentialHeaders: ReadonlySet<string>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of STORABLE) {
    const values = headers[name];
    if (values !== undefined && !credentialHeaders.has(name)) kept[name] = values.join(', ');
  }
  return kept;
}
