import type { QuarantinedRequest } from '../archive/quarantine/quarantine.js';
import { BodyTooLargeError, UndecodableError } from '../content/decode-error.js';
import type { IncomingItem, ItemDescription, ItemKind, ItemSink } from '../domain/item.js';
import { parseCallbackQuery } from '../receiver/access/callback-query.js';
import type { BodyHeaders, DecodeLimits } from '../receiver/decode/decode-body.js';
import { decodeBody } from '../receiver/decode/decode-body.js';
import { bodyEncodings } from '../receiver/request-headers.js';

/** The beginning of a body, fit to be shown as text. */
export interface BodyPreview {
  /** Control characters but line breaks and tabs are shown as U+FFFD. */
  readonly text: string;
  readonly truncated: boolean;
  /** Whether it is not UTF-8 text. */
  readonly binary: boolean;
}

const PREVIEW_BYTES = 4096;

export function previewOf(body: Buffer): BodyPreview {
  const beginning = body.subarray(0, PREVIEW_BYTES);
  const decoded = beginning.toString('utf8');
  const shown = decoded.replace(/[^\P{C}\n\r\t]/gu, '\ufffd');
  // The cut may fall inside the last character.
  return {
    text: shown,
    truncated: body.length > PREVIEW_BYTES,
    binary: shown.slice(0, -1).includes('\ufffd'),
  };
}

/** What today's decoder makes of a quarantined body. */
export type Trial =
  | { readonly ok: true; readonly items: readonly ItemKind[] }
  | { readonly ok: false; readonly reason: string; readonly detail: string };

export type TrialDecoder = (request: QuarantinedRequest, body: Buffer) => Promise<Trial>;

/** What decoding takes of a source's settings today. */
export interface DecodingSource {
  readonly contents: readonly string[];
  readonly maxBytes: number;
}

/** A source that is no longer configured decodes nothing. */
export function createTrialDecoder(
  sources: ReadonlyMap<string, DecodingSource>,
  maxParts: number,
): TrialDecoder {
  return async (request, body) => {
    const source = sources.get(request.source);
    if (source === undefined) return sourceGone(request);
    const seen: ItemKind[] = [];
    try {
      await decodeStored(request, body, forgetfulSink(seen), source, maxParts);
      return { ok: true, items: seen };
    } catch (error) {
      return failureOf(error);
    }
  };
}

function sourceGone({ source }: QuarantinedRequest): Trial {
  return { ok: false, reason: 'source-unknown', detail: `The source ${source} is no longer configured.` };
}

/** Why a body was not taken, in words. Throws what is no fault of the body. */
export function failureOf(error: unknown): Trial & { readonly ok: false } {
  if (error instanceof UndecodableError) return { ok: false, reason: error.reason, detail: error.message };
  if (error instanceof BodyTooLargeError) {
    return { ok: false, reason: 'body-too-large', detail: `It decodes to more than ${error.limit} bytes.` };
  }
  throw error;
}

/** Runs a stored body through the decoder as if it had just arrived. */
export async function decodeStored(
  request: QuarantinedRequest,
  body: Buffer,
  sink: ItemSink,
  source: DecodingSource,
  maxParts: number,
) {
  const limits: DecodeLimits = { maxBytes: source.maxBytes, maxParts };
  return decodeBody(headersOf(request, source), chunksOf(body), sink, limits);
}

function headersOf({ headers, query }: QuarantinedRequest, source: DecodingSource): BodyHeaders {
  const length = headers['content-length'];
  const lines = Object.entries(headers).map(([name, value]) => [name, [value]]);
  const { contents } = parseCallbackQuery(query);
  return {
    contentType: headers['content-type'] ?? null,
    contentEncoding: bodyEncodings(Object.fromEntries(lines)),
    contentLength: length === undefined ? null : Number(length),
    contents: contents.length > 0 ? contents : source.contents,
  };
}

const CHUNK = 64 * 1024;

async function* chunksOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < body.length; start += CHUNK) yield body.subarray(start, start + CHUNK);
}

/** How much of an item decides what it is, as the archive would show it for a larger one. */
const BEGINNING = 64 * 1024;

function forgetfulSink(seen: ItemKind[]): ItemSink {
  return { open: (description) => forgetfulItem(description, seen) };
}

function forgetfulItem(description: ItemDescription, seen: ItemKind[]): IncomingItem {
  const held: Buffer[] = [];
  let size = 0;
  return {
    write(chunk) {
      if (size < BEGINNING) held.push(chunk);
      size += chunk.length;
      return undefined;
    },
    async end() {
      const beginning = Buffer.concat(held);
      seen.push(description.identify(beginning, size === beginning.length).kind);
    },
  };
}
