import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { STORED_TYPES } from '../../../../domain/kinds.js';
import { Problem } from '../../../../domain/problem.js';
import type { ObjectInfo, ObjectStore } from '../../../../store/object-store.js';
import type { DownloadGate } from './download-gate.js';

/** Name and content type of a download. */
export interface DownloadForm {
  readonly contentType: string;
  /** Suggested file name; any text. */
  readonly fileName: string;
}

/**
 * Answers with an object's bytes, with a range of them, or with 304. The content is untrusted: a browser may save or play it, but must never
 * run it as a page of this origin.
 *
 * @param record records the access before the first byte is sent; nothing is sent when it fails
 */
export async function sendObject(
  { store, downloads }: { readonly store: ObjectStore; readonly downloads: DownloadGate },
  info: ObjectInfo,
  form: DownloadForm,
  record: () => Promise<void>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const etag = etagOf(info);
  const headers = { ...safeHeaders(form), etag, 'accept-ranges': 'bytes' };
  if (matchesAny(request.headers['if-none-match'], etag)) return void response.writeHead(304, headers).end();
  const range = wantedRange(request, info.size, etag);
  if (range === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${info.size}`);
    throw new Problem('range-not-satisfiable', `The artefact has ${info.size} bytes.`);
  }
  const length = range === null ? info.size : range.end - range.start + 1;
  const partial = range === null ? {} : { 'content-range': `bytes ${range.start}-${range.end}/${info.size}` };
  const status = range === null ? 200 : 206;
  if (request.method === 'HEAD') {
    return void response.writeHead(status, { ...headers, ...partial, 'content-length': length }).end();
  }
  await downloads(response, async () => {
    await record();
    const reading = await store.read(info.key, range, 'download');
    if (reading === null) throw new Problem('not-found', 'The artefact is gone.');
    response.writeHead(status, { ...headers, ...partial, 'content-length': length });
    // A client that disconnects ends the read; once the headers are sent, an error can only close the connection.
    await pipeline(reading.body, response).catch(() => response.destroy());
  });
}

/** Objects are never overwritten, so size and modification time suffice to distinguish one from a successor after an erasure. */
function etagOf({ metadata, size, modifiedAt }: ObjectInfo): string {
  return `"${metadata.sha256 ?? `${size.toString(36)}-${modifiedAt.getTime().toString(36)}`}"`;
}

function matchesAny(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
}

function wantedRange({ headers }: IncomingMessage, size: number, etag: string) {
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== etag) return null;
  return parseByteRange(headers.range, size);
}

function safeHeaders({ contentType, fileName }: DownloadForm): Record<string, string> {
  return {
    'content-type': contentType,
    'content-disposition': contentDisposition(fileName),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  };
}

const SAFE_TYPE = new RegExp(
  `^(?:${STORED_TYPES.join('|')}|(audio|video)/[\\w.+-]+)(; *charset=utf-8)?$`,
  'i',
);

/** The stored type when no browser runs it, otherwise `application/octet-stream`. */
export function safeContentType(contentType: string): string {
  return SAFE_TYPE.test(contentType) ? contentType : 'application/octet-stream';
}

const LONGEST_NAME = 200;

/** RFC 6266, with the name in RFC 5987 form beside a plain one for old clients. A name that is too long keeps its extension. */
export function contentDisposition(fileName: string): string {
  const [extension = ''] = /\.\w{1,8}$/.exec(fileName) ?? [];
  const isLong = fileName.length > LONGEST_NAME;
  const name = isLong ? fileName.slice(0, LONGEST_NAME - extension.length) + extension : fileName;
  const plain = name.replace(/[^\x20-\x7e]|["\\%/]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

export interface HttpRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/**
 * Parses a Range header for an object of `size` bytes (RFC 9110, section 14). Null without a header, and for headers that a
 * server may ignore: other units, several ranges, invalid syntax.
 */
export function parseByteRange(header: string | undefined, size: number): HttpRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}
