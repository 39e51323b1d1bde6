import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import multer from 'multer';
import { Problem } from '../../../../domain/problem.js';
import { type BodyLimits, declaredLengthOf, readBody } from '../../../../lib/http/read-body.js';
import { BodyAbortedError, type RequestBody } from '../../../../lib/http/request-body.js';
import type { ImportForm } from '../../../actions/import/import-artefacts.js';
import type { FileSink } from '../../../actions/import/import-files.js';
import { fieldsOf, formOptions, readForm } from './read-form.js';

export interface ImportFormOptions {
  /** The same limits as for bodies of callbacks. */
  readonly limits: BodyLimits;
  readonly draining: () => boolean;
  readonly maxFileBytes: number;
}

/** Bytes that a form may have besides its files. */
export const FORM_OVERHEAD = 256 * 1024;

/** Milliseconds without a byte after which an import is aborted while the replica shuts down. */
const SHUTDOWN_IDLE_TIMEOUT = 2_000;

/**
 * The form of an import, read with the same rules as a callback's body: no faster than its files are consumed, and rejected
 * when it stalls, arrives too slowly, or holds memory for too long while others wait for it.
 */
export function openImportForm(
  request: IncomingMessage,
  response: unknown,
  options: ImportFormOptions,
): ImportForm {
  const { limits, maxFileBytes } = options;
  const length = declaredLengthOf(request);
  const size = { maxBytes: maxFileBytes + FORM_OVERHEAD, declaredLength: length };
  const body = readBody(request, limits, size);
  return {
    expectedBytes: length,
    fields: () => fieldsOf(request),
    fail: (error) => body.fail(error),
    async read(sink) {
      let missingName = false;
      const { failed, watched } = firstFailure(body, sink);
      const handler = multer(
        formOptions(watched, maxFileBytes, (parser) => {
          parser.on('file', (_name: unknown, _stream: unknown, { filename }: { filename?: string }) => {
            if (!filename) missingName = true;
          });
          void feed(body, parser);
        }),
      ).any();
      const stopWatching = abortWhenSilent(body, options.draining);
      try {
        await Promise.race([readForm(handler, request, response), failed]);
      } finally {
        stopWatching();
        // The rest of a rejected form is not awaited.
        body.fail(new BodyAbortedError());
      }
      if (missingName) throw new Problem('request-invalid', 'Every file needs a file name.');
    },
  };
}

/** Rejects with the first error of body and sink; multer itself would wait for the rest of the form first. */
function firstFailure(body: RequestBody, sink: FileSink) {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  body.onFailure(() => reject(asFormError(body.failure)));
  const add: FileSink['add'] = (file) =>
    sink.add(file).catch((error: unknown) => {
      reject(error);
      throw error;
    });
  return { failed, watched: { ...sink, add } };
}

/** Writes the body to the parser at the parser's pace; discards what arrives after the parser has failed. */
async function feed(body: RequestBody, parser: NodeJS.WritableStream & { destroyed?: boolean }) {
  const closed = new Promise((resolve) => parser.once('close', resolve));
  try {
    for await (const chunk of body) {
      if (parser.destroyed !== true && !parser.write(chunk)) {
        await Promise.race([once(parser, 'drain'), closed]).catch(() => undefined);
      }
    }
    parser.end();
  } catch (error) {
    (parser as NodeJS.WritableStream & { destroy(error: unknown): void }).destroy(error);
  }
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

function asFormError(error: Error | null): Error | null {
  if (!(error instanceof BodyAbortedError)) return error;
  return new Problem('request-invalid', 'The form is incomplete: the connection was closed.', {
    cause: error,
  });
}
