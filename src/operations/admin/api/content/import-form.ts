import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import multer, { type Options, type StorageEngine } from 'multer';
import { Problem } from '../../../../domain/problem.js';
import { type BodyLimits, declaredLengthOf, readBody } from '../../../../lib/http/read-body.js';
import { BodyAbortedError, type RequestBody } from '../../../../lib/http/request-body.js';
import type { ImportForm } from '../../../actions/import/import-artefacts.js';
import type { FileSink } from '../../../actions/import/import-files.js';

export interface ImportFormOptions {
  /** The same limits as for bodies of callbacks. */
  readonly limits: BodyLimits;
  readonly maxFileBytes: number;
}

/** An option of multer 2.5 that its types lack. */
interface FormOptions extends Options {
  streamHandler: (request: IncomingMessage, parser: NodeJS.WritableStream) => void;
}

/** Bytes that a form may have besides its files. */
export const FORM_OVERHEAD = 256 * 1024;

/**
 * The form of an import, read by the rules of a callback's body: with back-pressure, and rejected when it stalls, is too slow, or holds
 * memory for too long while others wait for it.
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
    // The text fields read so far.
    fields: () => ({ ...((request as Request).body as Record<string, string> | undefined) }),
    fail: (error) => body.fail(error),
    async read(sink) {
      let missingName = false;
      const { failed, watched } = firstFailure(body, sink);
      const form: FormOptions = {
        storage: storageFor(watched),
        limits: limitsOf(maxFileBytes),
        defParamCharset: 'utf8',
        streamHandler(_request, parser) {
          parser.on('file', (_name: unknown, _stream: unknown, { filename }: { filename?: string }) => {
            if (!filename) missingName = true;
          });
          void feed(body, parser);
        },
      };
      try {
        await Promise.race([readForm(multer(form).any(), request, response), failed]);
      } finally {
        // The rest of a rejected form is not awaited.
        body.fail(new BodyAbortedError());
      }
      if (missingName) throw new Problem('request-invalid', 'Every file needs a file name.');
    },
  };
}

/** Sets every limit of multer: with its defaults 133 bytes can block the process for seconds. */
function limitsOf(maxFileBytes: number) {
  return {
    fieldNameSize: 100,
    fieldSize: 4096,
    fields: 10,
    files: 20,
    parts: 30,
    headerPairs: 50,
    fileSize: maxFileBytes,
    fieldNestingDepth: 0,
    fieldArrayIndexLimit: 0,
  };
}

/** Must not throw synchronously, and must listen for errors of the stream: either would end the process. */
function storageFor(sink: FileSink): StorageEngine {
  return {
    _handleFile(_request, { fieldname, originalname, mimetype, stream }, done) {
      stream.on('error', () => {});
      sink
        .add({ fieldName: fieldname, fileName: originalname, contentType: mimetype, stream })
        .then(({ bytes }) => done(undefined, { size: bytes }), done);
    },
    // Files are only staged until the commit: discarding the delivery removes them.
    _removeFile: (_request, _file, done) => done(null),
  };
}

/** Reads the form to its end. Rejects with the sink's error, or with `request-invalid` or `body-too-large`. */
function readForm(handler: RequestHandler, request: IncomingMessage, response: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    handler(request as Request, response as Response, (error: unknown) => {
      if (error) reject(asProblem(error));
      else resolve();
    });
  });
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

function asFormError(error: Error | null): Error | null {
  if (!(error instanceof BodyAbortedError)) return error;
  return new Problem('request-invalid', 'The form is incomplete: the connection was closed.', {
    cause: error,
  });
}

function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  if (code === 'LIMIT_FILE_SIZE')
    return new Problem('body-too-large', 'A file is larger than any source accepts.');
  if (typeof code === 'string' && /^(LIMIT_|MISSING_|INVALID_|STREAM_)/.test(code)) {
    return new Problem('request-invalid', `The form is not valid: ${error.message}.`, { cause: error });
  }
  // The parser's errors about broken forms have no code; store errors have a class of their own.
  const broken = /boundary|form|multipart|part|header|aborted|unsupported content/i.test(error.message);
  return broken && error.constructor === Error
    ? new Problem('request-invalid', 'The form is broken.', { cause: error })
    : error;
}
