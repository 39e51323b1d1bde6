import { hash } from 'node:crypto';
import {
  BodyTooLargeError,
  EncodingRefusedError,
  UndecodableError,
} from '../../archive/content/decode-error.js';
import type { QuarantinedRequest } from '../../archive/quarantine/quarantine.js';
import type { IncomingItem, ItemDescription, ItemSink } from '../../domain/item.js';
import type { ItemKind } from '../../domain/kinds.js';
import { chunksOf } from '../../lib/text/chunks-of.js';
import { parseCallbackQuery } from '../../receive/access/callback-query.js';
import type { SourceContent } from '../../receive/access/sources.js';
import { type BodyHeaders, bodyEncodings, decodeBody } from '../../receive/decode/decode-body.js';
import type { QuarantinedBodyView } from '../answers/quarantine.js';

const PREVIEW_BYTES = 4096;
const CHUNK_BYTES = 64 * 1024;

/** The beginning of a body as displayable text: U+FFFD replaces control characters except line breaks and tabs. */
export function previewOf(body: Buffer): QuarantinedBodyView['preview'] {
  const beginning = body.subarray(0, PREVIEW_BYTES);
  const decoded = beginning.toString('utf8');
  const shown = decoded.replace(/[^\P{C}\n\r\t]/gu, '\ufffd');
  // The last character may be truncated.
  return {
    text: shown,
    truncated: body.length > PREVIEW_BYTES,
    binary: shown.slice(0, -1).includes('\ufffd'),
  };
}

/** The result of decoding a quarantined body with the current decoder, without storing it. */
type Trial = QuarantinedBodyView['decodes'];

export type TrialDecoder = (request: QuarantinedRequest, body: Buffer) => Promise<Trial>;

/** A body whose source is no longer configured cannot be decoded. */
export function createTrialDecoder(sources: ReadonlyMap<string, SourceContent>): TrialDecoder {
  return async (request, body) => {
    const source = sources.get(request.source);
    if (source === undefined) return sourceGone(request);
    const seen: ItemKind[] = [];
    try {
      await decodeQuarantined(request, body, discardingSink(seen), source);
      return { ok: true, items: seen };
    } catch (error) {
      return decodeFailure(error);
    }
  };
}

function sourceGone({ source }: QuarantinedRequest): Trial {
  return { ok: false, reason: 'source-unknown', detail: `The source ${source} is no longer configured.` };
}

/** Why a body could not be decoded. Throws errors that are not the body's fault. */
export function decodeFailure(error: unknown): Extract<Trial, { ok: false }> {
  if (error instanceof UndecodableError) return { ok: false, reason: error.reason, detail: error.message };
  if (error instanceof BodyTooLargeError) {
    return { ok: false, reason: 'body-too-large', detail: `It decodes to more than ${error.limit} bytes.` };
  }
  if (error instanceof EncodingRefusedError)
    return { ok: false, reason: 'encoding-refused', detail: error.message };
  throw error;
}

/** Decodes a quarantined body as if it had just arrived. */
export async function decodeQuarantined(
  request: QuarantinedRequest,
  body: Buffer,
  sink: ItemSink,
  source: SourceContent,
) {
  if (request.reason === 'request-damaged') throw new UndecodableError(request.reason, request.detail);
  // Decoding a damaged body would store an artefact that was never sent.
  if (hash('sha256', body, 'hex') !== request.sha256)
    throw new UndecodableError('body-damaged', 'The stored body has other bytes than the one that arrived.');
  return decodeBody(headersOf(request, source), chunksOf(body, CHUNK_BYTES), sink, source);
}

function headersOf({ headers, query }: QuarantinedRequest, source: SourceContent): BodyHeaders {
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

/** Bytes of an item that determine its kind, as in the archive. */
const BEGINNING = 64 * 1024;

function discardingSink(seen: ItemKind[]): ItemSink {
  return { open: (description) => discardingItem(description, seen) };
}

function discardingItem(description: ItemDescription, seen: ItemKind[]): IncomingItem {
  const held: Buffer[] = [];
  let size = 0;
  return {
    async write(chunk) {
      if (size < BEGINNING) held.push(chunk);
      size += chunk.length;
    },
    async end() {
      const beginning = Buffer.concat(held);
      seen.push(description.identify(beginning, size === beginning.length).kind);
    },
  };
}
