import { z } from 'zod';
import { ITEM_KINDS, type ItemKind } from '../domain/item.js';
import { isCallbackStatus } from '../domain/job.js';
import { Problem } from '../domain/problem.js';
import { readBody, reasonText, text } from '../text/read-input.js';
import { defaultSource } from './default-source.js';
import type { ReleasingSource } from './release-body.js';

const FIELDS = z.strictObject({
  source: text.optional(),
  kind: z
    .enum([...ITEM_KINDS, 'transcript'])
    .transform((kind): ItemKind => (kind === 'transcript' ? 'transcript.json-v2' : kind))
    .optional(),
  status: z.string().refine(isCallbackStatus, 'is not a status').optional(),
  reason: reasonText,
});

/** The text fields of the import form. */
export type ImportFields = z.output<typeof FIELDS>;

/** Throws `request-invalid`, also for unknown fields: a transcript sent as a text field would be lost silently. */
export function readImportFields(fields: Record<string, string>): ImportFields {
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(FIELDS.shape, name));
  if (unknown === undefined) return readBody(FIELDS, fields);
  const name = JSON.stringify(unknown.slice(0, 64));
  throw new Problem('request-invalid', `The field ${name} is unknown; content is sent as a file.`);
}

/** Where the files of an import go. */
export interface ImportTarget {
  readonly source: string;
  readonly settings: ReleasingSource;
  readonly kind: ItemKind | undefined;
  readonly status: string | null;
}

/** Throws `request-invalid` when the source is ambiguous or unknown. */
export function importTarget(
  sources: ReadonlyMap<string, ReleasingSource>,
  fields: ImportFields,
): ImportTarget {
  const source = fields.source ?? defaultSource(sources.keys());
  if (source === null) throw new Problem('request-invalid', 'Name the source: there are several.');
  const settings = sources.get(source);
  if (settings === undefined) throw new Problem('request-invalid', 'source is not a configured source.');
  return { source, settings, kind: fields.kind, status: fields.status ?? null };
}

/** Throws `request-invalid` when a field came after the first file: it is already being stored. */
export function rejectLateFields(target: ImportTarget, fields: ImportFields): void {
  const late =
    (fields.source !== undefined && fields.source !== target.source) ||
    fields.kind !== target.kind ||
    (fields.status ?? null) !== target.status;
  if (late) throw new Problem('request-invalid', 'source, kind and status come before the files.');
}
