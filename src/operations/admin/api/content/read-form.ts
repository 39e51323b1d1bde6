import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Options, StorageEngine } from 'multer';
import { Problem } from '../../../../domain/problem.js';
import type { FileSink } from '../../../actions/import/import-files.js';

/** An option of multer 2.5 that its types lack. */
interface FormOptions extends Options {
  streamHandler: (request: IncomingMessage, parser: NodeJS.WritableStream) => void;
}

/** Every limit that multer has: with its defaults 133 bytes can block the process for seconds. */
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

/** Options that stream each file to `sink`, and pass the parser to `feed`, which writes the form to it. */
export function formOptions(
  sink: FileSink,
  maxFileBytes: number,
  feed: (parser: NodeJS.WritableStream) => void,
): FormOptions {
  return {
    storage: storageFor(sink),
    limits: limitsOf(maxFileBytes),
    defParamCharset: 'utf8',
    streamHandler: (_request, parser) => feed(parser),
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
    return new Problem('request-invalid', `The form is not valid: ${error.message}.`, { cause: error });
  }
  // The parser's errors about broken forms have no code; store errors have a class of their own.
  const broken = /boundary|form|multipart|part|header|aborted|unsupported content/i.test(error.message);
  return broken && error.constructor === Error
    ? new Problem('request-invalid', 'The form is broken.', { cause: error })
    : error;
}
