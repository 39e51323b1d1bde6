/**
 * Everything the receiver knows of each kind of content, in one table: a new kind is one entry. Content checks, the simulator's
 * writers and the page's viewers are code beside it, which the compiler asks for (CONTRIBUTING.md, "Small changes"). The page
 * loads this module too: it imports nothing.
 */

/**
 * What bytes of a kind must be: a json-v2 transcript, a job record, UTF-8 text, or anything but an error document.
 */
export type ContentCheckName = 'transcript' | 'record' | 'text' | 'media';

interface Kind {
  /** Shown by the page. */
  readonly label: string;
  /** Tokens of `contents`, which are also the names of parts. Compared in lower case, with `.` for `:`. */
  readonly tokens: readonly string[];
  /** The artefact below its job's folder; null where the key is made of the sender's name. */
  readonly file: string | null;
  /** Content type to store it with; null: the sender's. */
  readonly mediaType: string | null;
  /** Other content types that a text of the kind may come with. */
  readonly otherTypes?: readonly string[];
  readonly check: ContentCheckName | null;
  /** How such a text begins, as latin1; tells kinds of text apart when no name does. */
  readonly beginning?: RegExp;
  /** The retention class, which is also the object's tag. */
  readonly retention: 'transcript' | 'jobinfo' | 'data' | 'attachment';
  /** What the service's API returns for this kind: a format of the transcript, the media or the job record. */
  readonly document: string | null;
}

const SRT_TIME = '\\d{1,3}:\\d{2}:\\d{2}[,.]\\d{1,3}';

export const KINDS = {
  'transcript.json-v2': {
    label: 'transcript (json-v2)',
    tokens: ['transcript', 'transcript.json-v2'],
    file: 'transcript.json',
    mediaType: 'application/json',
    check: 'transcript',
    retention: 'transcript',
    document: 'json-v2',
  },
  'transcript.txt': {
    label: 'transcript (text)',
    tokens: ['transcript.txt'],
    file: 'transcript.txt',
    mediaType: 'text/plain; charset=utf-8',
    check: 'text',
    retention: 'transcript',
    document: 'txt',
  },
  'transcript.srt': {
    label: 'transcript (SRT)',
    tokens: ['transcript.srt'],
    file: 'transcript.srt',
    mediaType: 'application/x-subrip; charset=utf-8',
    otherTypes: ['application/srt', 'text/srt', 'text/x-srt'],
    check: 'text',
    // BOM and blank lines tolerated, then a cue number and the cue's times on the next line, with line ends of any system.
    beginning: new RegExp(
      `^(?:\\xef\\xbb\\xbf)?[ \\t\\r\\n]{0,16}\\d{1,10}[ \\t]{0,8}[\\r\\n]{1,4}[ \\t]{0,8}${SRT_TIME}[ \\t]{0,8}-->[ \\t]{0,8}${SRT_TIME}`,
    ),
    retention: 'transcript',
    document: 'srt',
  },
  jobinfo: {
    label: 'job information',
    tokens: ['jobinfo'],
    file: 'jobinfo.json',
    mediaType: 'application/json',
    check: 'record',
    retention: 'jobinfo',
    document: 'record',
  },
  data: {
    label: 'media',
    tokens: ['data'],
    file: 'data',
    mediaType: null,
    check: 'media',
    retention: 'data',
    document: 'media',
  },
  /** An item that neither name nor content identifies. */
  attachment: {
    label: 'attachment',
    tokens: [],
    file: null,
    mediaType: null,
    check: null,
    retention: 'attachment',
    document: null,
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type ItemKind = keyof typeof KINDS;
/** The kinds that a submitter can request, and that the service's API returns. */
export type RetrievableKind = Exclude<ItemKind, 'attachment'>;
export type TranscriptKind = Extract<ItemKind, `transcript.${string}`>;
/** A token of `contents` as a job submitter writes it. */
export type KnownContentToken = (typeof KINDS)[ItemKind]['tokens'][number];
export type JobDocument = (typeof KINDS)[RetrievableKind]['document'];
export type TranscriptFormat = (typeof KINDS)[TranscriptKind]['document'];

const ENTRIES = Object.entries(KINDS) as [ItemKind, Kind][];

export const ITEM_KINDS = ENTRIES.map(([kind]) => kind) as readonly ItemKind[] as readonly [
  ItemKind,
  ...ItemKind[],
];
export const RETRIEVABLE_KINDS: readonly RetrievableKind[] = ITEM_KINDS.filter(
  (kind) => kind !== 'attachment',
);
export const CONTENT_TOKENS = ENTRIES.flatMap(([, { tokens }]) => tokens) as readonly KnownContentToken[];

const KINDS_BY_TOKEN = new Map(
  ENTRIES.flatMap(([kind, { tokens }]) => tokens.map((token) => [token, kind as RetrievableKind])),
);

/** The kind that a token of `contents` or the name of a part stands for; null when it is none. Old spellings have `:` for `.`. */
export function kindOfToken(token: string): RetrievableKind | null {
  return KINDS_BY_TOKEN.get(token.toLowerCase().replaceAll(':', '.')) ?? null;
}

/** The kind that the service's API returns under this name; null when there is none. */
export function kindOfDocument(document: string): RetrievableKind | null {
  return RETRIEVABLE_KINDS.find((kind) => KINDS[kind].document === document) ?? null;
}

/** What an item of a kind is to the archive. @param senderType for kinds without a content type of their own */
export function identityOf(kind: ItemKind, senderType = 'application/octet-stream') {
  return { kind, contentType: KINDS[kind].mediaType ?? senderType };
}

export function checkOf(kind: ItemKind): ContentCheckName | null {
  return KINDS[kind].check;
}

const IS_JSON: Readonly<Record<ContentCheckName, boolean>> = {
  transcript: true,
  record: true,
  text: false,
  media: false,
};

/** Whether a kind is JSON by definition, so that anything else under its name is undecodable. */
export function isJsonKind(kind: ItemKind): boolean {
  const check = checkOf(kind);
  return check !== null && IS_JSON[check];
}

/** Whether a kind is a transcript, in whatever format; also of a kind that this version does not know. */
export function isTranscript({ kind }: { readonly kind: string }): boolean {
  return kind.startsWith('transcript.');
}

/**
 * Whether the API's document is the job record, which changes with time and only stands in for what a callback brings: it must
 * neither replace it nor be compared with it.
 */
export function isStandIn(kind: ItemKind): boolean {
  return KINDS[kind].document === 'record';
}

/** How a text of a kind begins; null where any text will do. */
export function textBeginning(kind: ItemKind): RegExp | null {
  return (KINDS[kind] as Kind).beginning ?? null;
}

const TEXT_KINDS_BY_TYPE = new Map(
  ENTRIES.filter(([, { check }]) => check === 'text').flatMap(([kind, { mediaType, otherTypes = [] }]) =>
    [essenceOf(mediaType ?? ''), ...otherTypes].map((type) => [type, kind]),
  ),
);

/** The kind of text that a content type without parameters stands for, a hint only: one kind may come as another. Null for others. */
export function textKindOfType(type: string): ItemKind | null {
  return TEXT_KINDS_BY_TYPE.get(type) ?? null;
}

/** The content types that artefacts are stored with, without parameters and senders' own. */
export const STORED_TYPES: readonly string[] = [
  ...new Set(ENTRIES.flatMap(([, { mediaType }]) => (mediaType === null ? [] : [essenceOf(mediaType)]))),
];

function essenceOf(mediaType: string): string {
  return mediaType.replace(/;.*/, '');
}

/**
 * Kinds of objects with content of jobs, which retention, storage classes and object tags distinguish. The three forms of
 * a transcript are one kind; media is `data`.
 */
export const CONTENT_CLASSES = ['transcript', 'jobinfo', 'data', 'attachment', 'quarantine'] as const;
export type ContentClass = (typeof CONTENT_CLASSES)[number];

/** Kinds of the receiver's own records, which belong to no single source. */
export const RECORD_CLASSES = ['ledger', 'reports', 'replays'] as const;
export type RecordClass = (typeof RECORD_CLASSES)[number];

export const RETENTION_CLASSES = [...CONTENT_CLASSES, ...RECORD_CLASSES] as const;
export type RetentionClass = (typeof RETENTION_CLASSES)[number];

const CLASS_LABELS: Readonly<Record<RetentionClass, string>> = {
  transcript: 'Transcripts',
  jobinfo: 'Job information',
  data: 'Media',
  attachment: 'Attachments',
  quarantine: 'Bodies in quarantine',
  ledger: 'Ledger',
  reports: 'Reports',
  replays: 'Replays',
};

/** A kind of `retention.<kind>`. */
export function retentionClassInWords(kind: string): string {
  return Object.hasOwn(CLASS_LABELS, kind) ? CLASS_LABELS[kind as RetentionClass] : kind;
}

/**
 * A conflict has the kind of the item that it differs from. Lines of the ledger may name kinds that this version does not know:
 * they count as attachments.
 */
export function retentionClassOf(kind: ItemKind): ContentClass {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind].retention : 'attachment';
}
