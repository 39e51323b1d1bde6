import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { parseJson } from '../../lib/text/parse-json.js';
import { type Content, fileContent } from '../content/content.js';

export interface UploadedForm {
  /** Parsed `config`, or undefined when it is missing or no JSON. */
  readonly config: unknown;
  readonly media: Content | null;
  readonly dataName: string;
}

/**
 * Reads a job submission: a form with `config` (JSON, as field or file) and `data_file`. Media go to a file
 * in `folder`, because they may be larger than memory. Throws when the form is broken.
 */
export async function readSubmission(
  headers: IncomingHttpHeaders,
  body: Readable,
  folder: string,
): Promise<UploadedForm> {
  const form = busboy({ headers, defParamCharset: 'utf8' });
  let config = '';
  let media: Content | null = null;
  let dataName = '';
  const spooling: Promise<void>[] = [];
  form.on('field', (name, value) => {
    if (name === 'config') config = value;
  });
  const takeConfig = async (file: Readable) => {
    config = await text(file);
  };
  const takeMedia = async (file: Readable, type: string) => {
    const path = join(folder, randomUUID());
    media = fileContent(path, await spool(file, path), type);
  };
  form.on('file', (name, file, info) => {
    if (name === 'config') spooling.push(takeConfig(file));
    else if (name === 'data_file') {
      dataName = info.filename ?? '';
      spooling.push(takeMedia(file, info.mimeType));
    } else file.resume();
  });
  await pipeline(body, form);
  await Promise.all(spooling);
  return { config: parseJson(config), media, dataName };
}

async function spool(file: Readable, path: string): Promise<number> {
  const target = createWriteStream(path);
  await pipeline(file, target);
  return target.bytesWritten;
}
