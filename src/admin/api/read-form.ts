import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Options, StorageEngine } from 'multer';
import { Problem } from '../../domain/problem.js';
import type { FileSink } from '../../repair/import-files.js';

/** What multer 2.5 knows and its types do not yet. */
export interface FormOptions extends Options {
  streamHandler: (request: IncomingMessage, parser: NodeJS.WritableStream) => void;
}

export interface FormLimits {
  readonly maxFileBytes: number;
}

/** Every limit there is: multer's defaults let 133 bytes block the process for seconds. */
function limitsOf({ maxFileBytes }: FormLimits) {
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

/** Options that hand each file to `sink` as it streams in, and the parser to `feed`, which gives it the form. */
export function formOptions(
  sink: FileSink,
  limits: FormLimits,
  feed: (parser: NodeJS.WritableStream) => void,
): FormOptions {
  return {
    storage: storageFor(sink),
    limits: limitsOf(limits),
    defParamCharset: 'utf8',
    streamHandler: (_request, parser) => feed(parser),
  };
}

/** Never throws synchronously and always listens for errors: either would end the process. */
function storageFor(sink: FileSink): StorageEngine {
  return {
    _handleFile(_request, { fieldname, originalname, mimetype, stream }, done) {
      stream.on('error', () => {});
      sink
        .add({ fieldName: fieldname, fileName: originalname, contentType: mimetype, stream })
        .then(({ bytes }) => done(undefined, { size: bytes }), done);
    },
    // What was taken is only staged: giving up the delivery removes it.
    _removeFile: (_request, _file, done) => done(null),
  };
}

/** Reads the form to its end. Rejects with what the sink rejected with, or `request-invalid`, `body-too-large`. */
export function readForm(
  handler: RequestHandler,
  request: IncomingMessage,
  response: unknown,
): Promise<void> {
  return new Promise((resolve, reject) => {
    handler(request as Request, response as Response, (error: unknown) => {
      if (error) reject(asProblem(error));
      else resolve();
    });
  });
}

/** The text fields read so far. */
export function fieldsOf(request: IncomingMessage): Record<string, string> {
  return { ...((request as Request).body as Record<string, string> | undefined) };
}

function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  if (code === 'LIMIT_FILE_SIZE')
    return new Problem('body-too-large', 'A file is larger than any source accepts.');
  if (typeof code === 'string' && /^(LIMIT_|MISSING_|INVALID_|STREAM_)/.test(code)) {
    return new Problem('request-invalid', `The form cannot be taken: ${error.message}.`, { cause: error });
  }
  // What the parser itself says of broken forms has no code; store trouble does come with a class of its own.
  const broken = /boundary|form|multipart|part|header|aborted|unsupported content/i.test(error.message);
  return broken && error.constructor === Error
    ? new Problem('request-invalid', 'The form is broken.', { cause: error })
    : error;
}
