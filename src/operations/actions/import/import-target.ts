import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type DeliveryContext, readContext } from '../../../domain/context.js';
import { isCallbackStatus } from '../../../domain/job.js';
import { CONTENT_TOKENS, ITEM_KINDS, type ItemKind, kindOfToken } from '../../../domain/kinds.js';
import { Problem } from '../../../domain/problem.js';
import { parseBody, reasonText, textInput } from '../../../lib/text/read-input.js';
import type { SourceContent } from '../../../receive/access/sources.js';
import { defaultSource } from '../default-source.js';

const FIELDS = z.strictObject({
  source: textInput.optional(),
  kind: z
    .enum([...ITEM_KINDS, ...CONTENT_TOKENS])
    .transform((name): ItemKind => kindOfToken(name) ?? 'attachment')
    .optional(),
  status: z.string().refine(isCallbackStatus, 'is not a status').optional(),
  context: z.string().max(4000).optional(),
  otherJob: z.literal('true', { error: 'is true or left out' }).optional(),
  reason: reasonText,
});

/** The text fields of the import form. */
export type ImportFields = z.output<typeof FIELDS>;

/** Throws `request-invalid`, also for unknown fields: a transcript sent as a text field would be lost silently. */
export function readImportFields(fields: Record<string, string>): ImportFields {
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(FIELDS.shape, name));
  if (unknown === undefined) return parseBody(FIELDS, fields);
  const name = JSON.stringify(unknown.slice(0, 64));
  throw new Problem('request-invalid', `The field ${name} is unknown; content is sent as a file.`);
}

/** Target of the files of an import. */
export interface ImportTarget {
  readonly source: string;
  readonly settings: SourceContent;
  readonly kind: ItemKind | undefined;
  readonly status: string | null;
  readonly context: DeliveryContext | null;
  /** Accept transcripts and job records that name another job. */
  readonly otherJob: boolean;
}

/** Throws `request-invalid` when the source is ambiguous or unknown, or does not admit the context. */
export function importTarget(
  sources: ReadonlyMap<string, SourceContent>,
  fields: ImportFields,
): ImportTarget {
  const source = fields.source ?? defaultSource(sources.keys());
  if (source === null) throw new Problem('request-invalid', 'Name the source: there are several.');
  const settings = sources.get(source);
  if (settings === undefined) throw new Problem('request-invalid', 'source is not a configured source.');
  const context = importContext(fields.context ?? '', settings.context);
  const otherJob = fields.otherJob === 'true';
  return { source, settings, kind: fields.kind, status: fields.status ?? null, context, otherJob };
}

/** Rejects invalid context instead of omitting it, as for callbacks, because an operator can correct it. */
function importContext(query: string, names: readonly string[]): DeliveryContext | null {
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const name = JSON.stringify(unknown.slice(0, 64));
    throw new Problem('request-invalid', `context: the source does not admit ${name}.`);
  }
  const { context, contextOmitted } = readContext(parameters, names);
  if (contextOmitted === null) return context;
  const [[name, why] = []] = Object.entries(contextOmitted);
  throw new Problem('request-invalid', `context: the value of ${name} is ${why}.`);
}

/** Throws `request-invalid` when a field came after the first file: it is already being stored. */
export function rejectLateFields(target: ImportTarget, fields: ImportFields): void {
  const late =
    (fields.source !== undefined && fields.source !== target.source) ||
    fields.kind !== target.kind ||
    (fields.status ?? null) !== target.status ||
    (fields.otherJob === 'true') !== target.otherJob ||
    !isDeepStrictEqual(importContext(fields.context ?? '', target.settings.context), target.context);
  if (late)
    throw new Problem('request-invalid', 'source, kind, status, context and otherJob come before the files.');
}
