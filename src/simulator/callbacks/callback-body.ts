import { createHash } from 'node:crypto';
import { KINDS, kindOfToken, type RetrievableKind } from '../../domain/kinds.js';
import type { NotificationConfig } from '../../speech/wire.js';
import type { Content } from '../content/content.js';
import { jobContent } from '../content/job-contents.js';
import type { SimulatedJob } from '../jobs/simulated-job.js';

/** Variants where the specification is contradictory or silent; a receiver must accept all. */
export interface BodyHabits {
  /** Without `contents`: as an empty list, its default, or the transcript as one attachment named `data_file`. */
  readonly absentContents: 'empty' | 'data_file';
  /** A callback with `data` alone: rule 5 says multipart, rule 6 says the bytes themselves. */
  readonly loneData: 'multipart' | 'raw';
  /** On error: only jobinfo, or the form without the unavailable items. */
  readonly errorBody: 'jobinfo' | 'remaining';
  /** Part types as Go's form writer labels files, or the true ones. */
  readonly partTypes: 'octet-stream' | 'true';
}

/** The body of one callback; `content` is null when there is none. */
export interface CallbackBody {
  readonly content: Content | null;
  /** Names of the attachments, in order; empty for a raw body. */
  readonly parts: readonly string[];
}

/** The rules of docs/service-interface.md, "Bodies". */
export function callbackBody(job: SimulatedJob, entry: NotificationConfig, habits: BodyHabits): CallbackBody {
  const legacy = entry.contents === undefined && habits.absentContents === 'data_file';
  const contents = entry.contents ?? [];
  if (contents.length === 0 && !legacy) return { content: null, parts: [] };
  if (job.outcome !== 'success') return errorBody(job, contents, habits);
  return legacy ? form(job, [legacyPart(job)], habits) : bodyOf(job, contents, habits);
}

function bodyOf(job: SimulatedJob, contents: readonly string[], habits: BodyHabits): CallbackBody {
  const [only] = contents;
  if (contents.length === 1 && only !== undefined) {
    const item = kindOfToken(only);
    if (item && (item !== 'data' || habits.loneData === 'raw')) return raw(job, item);
  }
  return form(job, partsOf(job, contents), habits);
}

function errorBody(job: SimulatedJob, contents: readonly string[], habits: BodyHabits): CallbackBody {
  if (habits.errorBody === 'jobinfo' || contents.length < 2) return raw(job, 'jobinfo');
  return form(
    job,
    partsOf(
      job,
      contents.filter((token) => token === 'jobinfo'),
    ),
    habits,
  );
}

function raw(job: SimulatedJob, item: RetrievableKind): CallbackBody {
  const content = jobContent(job, item);
  return {
    content: item === 'data' ? { ...content, contentType: 'application/octet-stream' } : content,
    parts: [],
  };
}

/** `contents` absent: kept by the service for receivers written before there was a choice. */
function legacyPart(job: SimulatedJob): FormPart {
  return { name: 'data_file', fileName: 'data_file', content: jobContent(job, 'transcript.json-v2') };
}

function partsOf(job: SimulatedJob, contents: readonly string[]): FormPart[] {
  return contents.flatMap((token) => {
    const item = kindOfToken(token);
    return item ? [{ name: token, fileName: fileNameOf(item), content: jobContent(job, item) }] : [];
  });
}

function fileNameOf(kind: RetrievableKind): string {
  return kind === 'data' ? 'data.wav' : KINDS[kind].file;
}

function form(job: SimulatedJob, parts: FormPart[], habits: BodyHabits): CallbackBody {
  const labelled = parts.map((part) =>
    habits.partTypes === 'true'
      ? part
      : { ...part, content: { ...part.content, contentType: 'application/octet-stream' } },
  );
  const boundary = createHash('sha256').update(`boundary:${job.id}`).digest('hex').slice(0, 60);
  return { content: multipartContent(labelled, boundary), parts: parts.map(({ name }) => name) };
}

interface FormPart {
  readonly name: string;
  readonly fileName: string;
  readonly content: Content;
}

/**
 * A form byte by byte as Go's mime/multipart writes it: 60 hex digits of boundary, a line break before the
 * closing delimiter even without parts, quotes and backslashes escaped.
 */
function multipartContent(parts: readonly FormPart[], boundary: string): Content {
  const heads = parts.map((part, index) => partHead(part, boundary, index === 0));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const size = parts.reduce(
    (sum, part, index) => sum + part.content.size + (heads[index]?.length ?? 0),
    tail.length,
  );
  return {
    size,
    contentType: `multipart/form-data; boundary=${boundary}`,
    async *chunks() {
      for (const [index, part] of parts.entries()) {
        yield heads[index] ?? Buffer.alloc(0);
        yield* part.content.chunks();
      }
      yield tail;
    },
  };
}

function partHead(part: FormPart, boundary: string, first: boolean): Buffer {
  const lines = [
    `${first ? '' : '\r\n'}--${boundary}`,
    `Content-Disposition: form-data; name="${escaped(part.name)}"; filename="${escaped(part.fileName)}"`,
    `Content-Type: ${part.content.contentType}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/[\r\n]/g, '');
}
