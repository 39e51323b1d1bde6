import { randomBytes } from 'node:crypto';
import type { JobConfig } from '../wire.js';

/** Media to submit with a job. */
export interface JobMedia {
  readonly fileName: string;
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
  /** Bytes, when known; sent in chunks otherwise. */
  readonly size?: number;
  /** Opens the media from their beginning; called once per attempt. */
  open(): AsyncIterable<Uint8Array>;
}

interface JobForm {
  readonly contentType: string;
  /** Null when the size of the media is not known. */
  readonly size: number | null;
  body(): AsyncIterable<Uint8Array>;
}

/** The form of a submission: `config`, and `data_file` unless the service fetches the media itself. */
export function jobForm(config: JobConfig, media: JobMedia | null): JobForm {
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="config"\r\n` +
      `Content-Type: application/json\r\n\r\n${JSON.stringify(config)}\r\n${media ? fileHead(boundary, media) : ''}`,
  );
  const tail = Buffer.from(`${media ? '\r\n' : ''}--${boundary}--\r\n`);
  const size = media ? media.size : 0;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    size: size === undefined ? null : head.length + size + tail.length,
    async *body() {
      yield head;
      if (media) yield* media.open();
      yield tail;
    },
  };
}

function fileHead(boundary: string, media: JobMedia): string {
  const type = (media.contentType ?? 'application/octet-stream').replaceAll(/[\r\n]/g, '');
  return (
    `--${boundary}\r\nContent-Disposition: form-data; name="data_file"; ` +
    `filename="${escaped(media.fileName)}"\r\nContent-Type: ${type}\r\n\r\n`
  );
}

/** Name as browsers write it (WHATWG: multipart/form-data encoding algorithm). */
function escaped(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}
