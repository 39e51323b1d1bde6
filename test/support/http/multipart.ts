/** Builds valid and invalid multipart bodies, and cuts bodies into chunks. */

export interface PartSpec {
  readonly name?: string;
  readonly fileName?: string;
  readonly type?: string;
  /** Header lines that replace the ones made of name, fileName and type. */
  readonly headers?: readonly string[];
  readonly body: Buffer | string;
}

export interface FormSpec {
  readonly boundary?: string;
  readonly preamble?: string;
  readonly epilogue?: string;
  /** White space after each boundary. */
  readonly padding?: string;
  /** Leave the closing delimiter out. */
  readonly unterminated?: boolean;
}

export const BOUNDARY = '----7MA4YWxkTrZu0gW';

export function formType(boundary = BOUNDARY): string {
  return `multipart/form-data; boundary="${boundary}"`;
}

export function formBody(parts: readonly PartSpec[], form: FormSpec = {}): Buffer {
  const { boundary = BOUNDARY, preamble, epilogue = '\r\n', padding = '', unterminated = false } = form;
  const pieces: (Buffer | string)[] = preamble === undefined ? [] : [`${preamble}\r\n`];
  for (const [index, part] of parts.entries()) {
    pieces.push(`${index === 0 ? '' : '\r\n'}--${boundary}${padding}\r\n`);
    for (const line of part.headers ?? headerLines(part)) pieces.push(`${line}\r\n`);
    pieces.push('\r\n', part.body);
  }
  if (!unterminated) pieces.push(`${parts.length === 0 ? '' : '\r\n'}--${boundary}--${padding}${epilogue}`);
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

function headerLines({ name, fileName, type }: PartSpec): string[] {
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const params = [
    'form-data',
    ...(name === undefined ? [] : [`name=${quoted(name)}`]),
    ...(fileName === undefined ? [] : [`filename=${quoted(fileName)}`]),
  ];
  return [
    `Content-Disposition: ${params.join('; ')}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
  ];
}

/** The body in chunks of the given sizes, over and over; without sizes as one chunk. */
export async function* chunksOf(body: Buffer, ...sizes: number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < body.length; turn++) {
    const size = sizes.length === 0 ? body.length : Math.max(1, sizes[turn % sizes.length] ?? 1);
    yield body.subarray(at, at + size);
    at += size;
  }
}

/**
 * A second, simple parser: reads the whole body at once by RFC 2046, with delimiters as whole lines. Null when
 * the body is not well-formed, has more than white space around its parts, or holds a damaged delimiter.
 */
export function naiveParts(body: Buffer, boundary = BOUNDARY): { head: string; content: Buffer }[] | null {
  const text = `\r\n${body.toString('latin1')}`;
  const escaped = boundary.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const [preamble = '', ...pieces] = text.split(
    new RegExp(`\\r\\n--${escaped}(?=[ \\t]*\\r\\n|--(?:[ \\t]*\\r\\n|[ \\t\\r\\n]*$))`, 'u'),
  );
  const closing = pieces.findIndex((piece) => /^--([ \t]*\r\n|[ \t\r\n]*$)/.test(piece));
  if (closing === -1) return null;
  const parts = pieces
    .slice(0, closing)
    .map((piece) => /^[ \t]*\r\n((?:[^\r\n]+\r\n)*)(?:\r\n([\s\S]*))?$/.exec(piece));
  if (parts.includes(null)) return null;
  const epilogue = pieces
    .slice(closing)
    .join('x')
    .replace(/^--[ \t]*/, '');
  if (/[^ \t\r\n]/.test(preamble + epilogue)) return null;
  if (parts.some((found) => damagedDelimiter(boundary).test(`\n${found?.[2] ?? ''}`))) return null;
  return parts.map((found) => ({ head: found?.[1] ?? '', content: Buffer.from(found?.[2] ?? '', 'latin1') }));
}

/** A delimiter that was damaged on its way, before what looks like the header of a part. */
export function damagedDelimiter(boundary = BOUNDARY): RegExp {
  const escaped = boundary.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // The boundary is case-sensitive, the header name is not.
  const header = '[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[A-Za-z-]{1,32}[ \\t]*:';
  return new RegExp(`[-\\r\\n]${escaped}[- \\t\\r\\n]{0,64}${header}`);
}
