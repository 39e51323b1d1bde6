import { beginsLike } from '../../../archive/content/item-plan.js';
import { JobIdFinder } from '../../../archive/content/job-id-finder.js';
import { JsonCheck } from '../../../archive/content/json-check.js';
import {
  type ContentCheckName,
  KINDS,
  type RetrievableKind,
  textBeginning,
  textKindOfType,
} from '../../../domain/kinds.js';

/**
 * Checks a download while it streams. Returns why it cannot be the requested document, or null as long as it can be. Holds
 * a few hundred bytes, whatever the size of the download.
 */
interface ContentCheck {
  push(chunk: Buffer): string | null;
  finish(): string | null;
}

type CheckMaker = (kind: RetrievableKind, jobId: string) => ContentCheck;

const CHECKS: Readonly<Record<ContentCheckName, CheckMaker>> = {
  transcript: (_kind, jobId) => jsonCheck(isTranscript, jobId),
  record: (_kind, jobId) => jsonCheck(isRecord, jobId),
  text: (kind) => allOf(rejectsPages(), rejectsJsonObjects(), isText(), hasBeginning(kind)),
  media: () => allOf(rejectsPages(), rejectsJsonObjects()),
};

/** Keeps out of the archive what cannot be the artefact: a proxy's page, an error document, another job's result. */
export function contentCheck(kind: RetrievableKind, jobId: string): ContentCheck {
  return CHECKS[KINDS[kind].check](kind, jobId);
}

const JSON_TYPE = /^(application|text)\/json$|\+json$/;
const PAGE_TYPE = /^(text\/html|application\/xhtml\+xml)$/;
/** Types that do not describe the content. */
const GENERIC_TYPE = /^(|(application|binary)\/octet-stream)$/;

const FITS: Readonly<Record<ContentCheckName, (type: string) => boolean>> = {
  transcript: isJsonType,
  record: isJsonType,
  text: (type) => textKindOfType(type) !== null,
  media: (type) => !PAGE_TYPE.test(type) && !JSON_TYPE.test(type),
};

function isJsonType(type: string): boolean {
  return JSON_TYPE.test(type) || type === 'text/plain';
}

/** Why a content type cannot be that of an item; null when it can. */
export function foreignType(kind: RetrievableKind, contentType: string | null): string | null {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return GENERIC_TYPE.test(type) || FITS[KINDS[kind].check](type)
    ? null
    : `has the unexpected content type ${type}`;
}

function allOf(...checks: readonly ContentCheck[]): ContentCheck {
  return {
    push: (chunk) => firstReason(checks, (check) => check.push(chunk)),
    finish: () => firstReason(checks, (check) => check.finish()),
  };
}

function firstReason(
  checks: readonly ContentCheck[],
  reasonOf: (check: ContentCheck) => string | null,
): string | null {
  for (const check of checks) {
    const reason = reasonOf(check);
    if (reason !== null) return reason;
  }
  return null;
}

type Judge = (json: JsonCheck, foundId: string | null, jobId: string) => string | null;

function jsonCheck(judge: Judge, jobId: string): ContentCheck {
  const json = new JsonCheck();
  const job = new JobIdFinder();
  return {
    push(chunk) {
      job.push(chunk);
      return json.push(chunk) ? null : 'is not JSON';
    },
    finish: () => (json.finish() ? judge(json, job.id, jobId) : 'is not JSON'),
  };
}

const isTranscript: Judge = (json, foundId, jobId) => {
  if (!json.looksLikeTranscript) return 'is JSON, but not a transcript';
  return foundId === null || foundId === jobId ? null : 'is the transcript of another job';
};

const isRecord: Judge = (_json, foundId, jobId) =>
  foundId === jobId ? null : 'is JSON, but not the record of this job';

const PAGE = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|\?xml|html|head|body)\b/i;
const ENOUGH_BYTES = 512;

function rejectsPages(): ContentCheck {
  return beginningCheck((beginning) => (PAGE.test(beginning.toString('latin1')) ? 'is a web page' : null));
}

function hasBeginning(kind: RetrievableKind): ContentCheck {
  return beginningCheck((beginning) => {
    const isEmpty = beginning.toString('latin1').trim() === '';
    const fits = isEmpty || textBeginning(kind) === null || beginsLike(kind, beginning);
    return fits ? null : 'does not begin like subtitles';
  });
}

/** Judges the first bytes as soon as enough of them have arrived. */
function beginningCheck(judge: (beginning: Buffer) => string | null): ContentCheck {
  let beginning: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      if (beginning.length >= ENOUGH_BYTES) return null;
      beginning = Buffer.concat([beginning, chunk.subarray(0, ENOUGH_BYTES - beginning.length)]);
      return beginning.length >= ENOUGH_BYTES ? judge(beginning) : null;
    },
    finish: () => (beginning.length < ENOUGH_BYTES ? judge(beginning) : null),
  };
}

/** The service's errors are JSON objects, whatever was requested. */
function rejectsJsonObjects(): ContentCheck {
  const json = new JsonCheck();
  let first: number | undefined;
  return {
    push(chunk) {
      first ??= chunk.find((byte) => byte > 0x20 && byte < 0x80);
      if (first === undefined || first === 0x7b) json.push(chunk);
      return null;
    },
    finish: () => (first === 0x7b && json.finish() ? 'is a JSON document' : null),
  };
}

function isText(): ContentCheck {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decodes = (chunk: Buffer | undefined): boolean => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  };
  return {
    push: (chunk) => (decodes(chunk) && !chunk.includes(0) ? null : 'is not text'),
    finish: () => (decodes(undefined) ? null : 'is not text'),
  };
}
