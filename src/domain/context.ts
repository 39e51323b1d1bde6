/**
 * The submitter's own parameters of the callback URL that a source admits: its `context` names them. The service keeps
 * the URL with the job, so that a recovery reads the same values there.
 */

/** Values by name. */
export type DeliveryContext = Readonly<Record<string, string>>;

/** Why a value was left out, by name. */
export type OmittedContext = Readonly<Record<string, 'malformed' | 'repeated'>>;

/** The context of a query. Null where there is nothing. */
export interface QueryContext {
  readonly context: DeliveryContext | null;
  readonly contextOmitted: OmittedContext | null;
}

export const NO_CONTEXT: QueryContext = { context: null, contextOmitted: null };

export const MAX_CONTEXT_NAMES = 8;
/** In characters, which are bytes. */
export const MAX_CONTEXT_VALUE = 128;

/** Characters that need no encoding in a query, and are part of a header name once `metadataName` has seen them. */
export const CONTEXT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const VALUE = /^[\x21-\x7e]{1,128}$/;
/** Parameters of a callback that mean something else. */
export const RESERVED_PARAMETERS: readonly string[] = ['id', 'status', 'contents'];

export const CONTEXT_NAME_EXPECTED =
  'a name of letters, digits, dots, underscores and hyphens, at most 64, beginning with a letter or digit';

export function isContextValue(text: string): boolean {
  return VALUE.test(text);
}

/** Reads the admitted parameters of a query. One that is malformed or occurs twice is left out: it costs no transcript. */
export function readContext(
  parameters: Pick<URLSearchParams, 'getAll'>,
  names: readonly string[],
): QueryContext {
  if (names.length === 0) return NO_CONTEXT;
  const context: [string, string][] = [];
  const omitted: [string, OmittedContext[string]][] = [];
  for (const name of names) {
    const [value, another] = parameters.getAll(name);
    if (value === undefined) continue;
    if (another !== undefined) omitted.push([name, 'repeated']);
    else if (isContextValue(value)) context.push([name, value]);
    else omitted.push([name, 'malformed']);
  }
  return {
    context: context.length === 0 ? null : Object.fromEntries(context),
    contextOmitted: omitted.length === 0 ? null : Object.fromEntries(omitted),
  };
}

/** Whether a line's context has this value. Lines come from the store: anything may be there. */
export function hasContextValue(context: unknown, name: string, value: string): boolean {
  return (
    typeof context === 'object' &&
    context !== null &&
    Object.hasOwn(context, name) &&
    (context as Readonly<Record<string, unknown>>)[name] === value
  );
}

/** Key of an artefact's metadata that holds the value. Proxies drop header names with dots or underscores. */
export function metadataName(name: string): string {
  return `context-${name.toLowerCase().replaceAll(/[._]/g, '-')}`;
}
