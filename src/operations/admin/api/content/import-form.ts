import type { IncomingMessage } from 'node:http';
import { UndecodableError } from '../../../../archive/content/decode-error.js';
import { parseMediaType } from '../../../../archive/content/media-type.js';
import type { PartHead } from '../../../../archive/content/part-head.js';
import { Problem } from '../../../../domain/problem.js';
import { type BodyLimits, type BodyReader, declaredLengthOf } from '../../../../lib/http/body-reader.js';
import { BodyAbortedError, type RequestBody } from '../../../../lib/http/request-body.js';
import type { ByteSource } from '../../../../receive/decode/byte-source.js';
import { decodeMultipart, formBoundary, type OpenPart } from '../../../../receive/decode/decode-multipart.js';
import type { ImportForm } from '../../../actions/import/import-artefacts.js';
import type { FileSink } from '../../../actions/import/import-files.js';

export interface ImportFormOptions {
  readonly bodyReader: BodyReader;
  /** The same limits as for bodies of callbacks. */
  readonly limits: BodyLimits;
  readonly draining: () => boolean;
  readonly maxFileBytes: number;
}

/** Bytes that a form may have besides its files. */
export const FORM_OVERHEAD = 256 * 1024;

/** Bytes of a text field. */
const MAX_FIELD = 4096;

/** Milliseconds without a byte after which an import is aborted while the replica shuts down. */
const SHUTDOWN_IDLE_TIMEOUT = 2_000;

/**
 * The form of an import, read and decoded by the rules of a callback's body: no faster than its files are consumed, and rejected
 * when it stalls, arrives too slowly, or holds memory for too long while others wait for it.
 */
export function openImportForm(
  request: IncomingMessage,
  { bodyReader, limits, draining, maxFileBytes }: ImportFormOptions,
): ImportForm {
  const declaredLength = declaredLengthOf(request);
  const body = bodyReader.read(request, limits, { maxBytes: maxFileBytes + FORM_OVERHEAD, declaredLength });
  const fields = new Map<string, string>();
  return {
    expectedBytes: declaredLength,
    fields: () => Object.fromEntries(fields),
    fail: (error) => body.fail(error),
    async read(sink) {
      const stopWatching = abortWhenSilent(body, draining);
      try {
        const boundary = formBoundary(parseMediaType(request.headers['content-type'] ?? null));
        const decoding = decodeMultipart(sourceOf(body), boundary, (head) => openPart(head, sink, fields));
        // A file that waits for memory does not learn that the sender has gone.
        await Promise.race([decoding, failureOf(body)]);
      } catch (error) {
        throw asFormError(error);
      } finally {
        stopWatching();
        // The rest of a rejected form is not awaited.
        body.fail(new BodyAbortedError());
      }
    },
  };
}

function sourceOf(body: RequestBody): ByteSource {
  const chunks = body[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await chunks.next();
      return done ? null : value;
    },
  };
}

function failureOf(body: RequestBody): Promise<never> {
  return new Promise((_, reject) => body.onFailure(() => reject(body.failure)));
}

/** A part with a file name is a file, any other one a text field. */
function openPart(head: PartHead, sink: FileSink, fields: Map<string, string>): OpenPart {
  const { name, fileName, contentType = null } = head;
  if (name === null) throw new Problem('request-invalid', 'Every part needs a name.');
  if (fileName !== undefined) return sink.open({ ...head, name, fileName });
  if (parseMediaType(contentType).essence === 'application/octet-stream')
    throw new Problem('request-invalid', 'Every file needs a file name.');
  return openField(name, fields);
}

function openField(name: string, fields: Map<string, string>): OpenPart {
  const field = `The field ${JSON.stringify(name.slice(0, 64))}`;
  if (fields.has(name)) throw new Problem('request-invalid', `${field} is repeated.`);
  let content = Buffer.alloc(0);
  return {
    async write(bytes) {
      content = Buffer.concat([content, bytes]);
      if (content.length > MAX_FIELD)
        throw new Problem('request-invalid', `${field} is too long; content is sent as a file.`);
    },
    async end() {
      fields.set(name, content.toString('utf8'));
    },
  };
}

/** A shutdown waits for imports that make progress, not for those that stall. */
function abortWhenSilent(body: RequestBody, draining: () => boolean): () => void {
  let seen = -1;
  const timer = setInterval(() => {
    if (draining() && body.bytes === seen)
      body.fail(new Problem('draining', 'This replica is shutting down.'));
    seen = body.bytes;
  }, SHUTDOWN_IDLE_TIMEOUT);
  timer.unref();
  return () => clearInterval(timer);
}

function asFormError(error: unknown): unknown {
  if (error instanceof UndecodableError)
    return new Problem('request-invalid', `The form is broken: ${error.message}`, { cause: error });
  if (!(error instanceof BodyAbortedError)) return error;
  return new Problem('request-invalid', 'The form is incomplete: the connection was closed.', {
    cause: error,
  });
}
