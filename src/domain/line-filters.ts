// Loaded by the dashboard as well: whatever this module imports must run in a browser.

/**
 * A filter by a field of ledger lines: an option of the commands, a parameter of the API and a field of the page, all of the field's name.
 */
interface LineFilterEntry {
  /** Label on the page. */
  readonly label: string;
  /** What the option or parameter does. */
  readonly words: string;
  /** Placeholder of the field on the page. */
  readonly example?: string;
}

/** Filters whose values are names from a known set; `names` is the list of `GET names`. Deliveries and Summary have them. */
export const NAMED_FILTERS = {
  source: { names: 'sources', label: 'Source', words: 'only of this source' },
  region: { names: 'regions', label: 'Region', words: 'only of this region' },
  status: { names: 'statuses', label: 'Callback status', words: 'only with this callback status' },
  outcome: { names: 'outcomes', label: 'Outcome', words: 'only with this outcome, such as refused' },
  origin: { names: 'origins', label: 'Origin', words: 'only of this origin, such as recovery' },
} as const satisfies Readonly<Record<string, LineFilterEntry & { readonly names: string }>>;

/** Filters of Deliveries. */
export const LINE_FILTERS = {
  ...NAMED_FILTERS,
  actor: {
    label: 'By',
    words: 'what this operator did, accesses included: name of a token, or command-line',
    example: 'name of a token',
  },
} as const satisfies Readonly<Record<string, LineFilterEntry>>;

export type NamedFilter = keyof typeof NAMED_FILTERS;
export type LineFilter = keyof typeof LINE_FILTERS;

/** Values by filter; an absent one matches everything. */
export type NamedFilters = { readonly [Name in NamedFilter]?: string | undefined };
export type LineFilters = { readonly [Name in LineFilter]?: string | undefined };

export const NAMED_FILTER_NAMES = Object.keys(NAMED_FILTERS) as readonly NamedFilter[];
export const LINE_FILTER_NAMES = Object.keys(LINE_FILTERS) as readonly LineFilter[];

/** The filters of a query, without its other parameters. */
export function lineFiltersOf(query: LineFilters): LineFilters {
  return Object.fromEntries(LINE_FILTER_NAMES.map((name) => [name, query[name]]));
}

export function isNamedFilter(name: LineFilter): name is NamedFilter {
  return Object.hasOwn(NAMED_FILTERS, name);
}
