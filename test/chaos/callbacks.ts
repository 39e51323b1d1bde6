import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Random } from '../support/random.js';

/** How an attempt is spoiled on the sender's side. */
export type Spoiling = 'none' | 'abort' | 'truncate' | 'drip' | 'crumbs' | 'chunked' | 'wrong-credential';

interface SentItem {
  /** File below the job's folder, as the contract names it. */
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

/** One body that a sender wants to bring across, with what must lie in the store once it was acknowledged. */
export interface Callback {
  readonly jobId: string;
  readonly status: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty after `letGo`. */
  body: Buffer;
  readonly items: readonly SentItem[];
  /** The receiver cannot make sense of it: at best the raw body is kept in quarantine. */
  readonly malformed: boolean;
  /** For the attempts in turn; the last one stands for all further ones. */
  readonly spoilings: readonly Spoiling[];
  /** Sent once more, so, after it was acknowledged; null: not. */
  readonly repeat: Spoiling | null;
}

/**
 * Releases the bytes of a callback that is not sent any more: the account keeps callbacks until the end, and a run sends
 * gigabytes. Of a malformed one the checker needs them.
 */
export function letGo(callback: Callback): void {
  if (!callback.malformed) callback.body = NOTHING;
}

const NOTHING = Buffer.alloc(0);

export interface Sizes {
  /** Bytes of media that make it stream in parts. */
  readonly media: readonly [number, number];
  readonly mediaShare: number;
  /** Bytes of the receiver's part, up to which it holds an item in memory. */
  readonly part: number;
}

/** The callbacks of one job, one after the other: usually one, sometimes a second with other bytes. */
export function jobCallbacks(random: Random, jobId: string, sizes: Sizes): Callback[] {
  const first = callback(random, jobId, sizes);
  const differs = random.chance(0.06) && !first.malformed && first.items.length > 0;
  if (differs) return [first, { ...callback(random, jobId, sizes, 'json'), spoilings: ['none'] }];
  return random.chance(sizes.mediaShare) ? [first, ...mediaConflict(random, jobId, sizes)] : [first];
}

/**
 * Media around the size of a part, then other bytes of that size, which come both with a length and in chunks: the receiver may hold
 * them in memory or stream them, and has to keep them once.
 */
function mediaConflict(random: Random, jobId: string, sizes: Sizes): Callback[] {
  const around = { ...sizes, media: [sizes.part - 8_000, sizes.part + 1_000] } as const;
  const framings = random.pick([
    ['none', 'chunked'],
    ['chunked', 'none'],
  ] as const);
  return [
    mediaCallback(random, jobId, around),
    { ...mediaCallback(random, jobId, around), spoilings: [framings[0]], repeat: framings[1] },
  ];
}

/** A good callback with media, sent as it is. */
export function mediaCallback(random: Random, jobId: string, sizes: Sizes): Callback {
  return { ...callback(random, jobId, sizes, 'media'), spoilings: ['none'], repeat: null };
}

/** A valid transcript of about `bytes` bytes. */
export function largeTranscript(random: Random, jobId: string, bytes: number): Callback {
  const body = transcriptOf(random.bytes(Math.floor((bytes * 3) / 4)));
  return {
    jobId,
    status: 'success',
    headers: { 'content-type': 'application/json' },
    body,
    items: [item('transcript.json', body)],
    malformed: false,
    spoilings: ['none'],
    repeat: null,
  };
}

type Kind =
  | 'json'
  | 'form'
  | 'large-form'
  | 'media'
  | 'text'
  | 'empty'
  | 'gzip'
  | 'broken-json'
  | 'broken-form';

function callback(random: Random, jobId: string, sizes: Sizes, fixed?: Kind): Callback {
  const kind = fixed ?? drawKind(random, sizes.mediaShare);
  const spoilt = random.chance(0.2);
  const spoiling = random.pick<Spoiling>([
    'abort',
    'abort',
    'truncate',
    'drip',
    'crumbs',
    'wrong-credential',
  ]);
  return {
    jobId,
    ...BODIES[kind](random, sizes),
    status: kind === 'empty' ? random.pick(['error', 'fetch_error', 'trim_error']) : 'success',
    malformed: kind.startsWith('broken'),
    spoilings: spoilt ? [spoiling, 'none'] : ['none'],
    repeat: random.chance(0.12) ? 'none' : null,
  };
}

function drawKind(random: Random, mediaShare: number): Kind {
  if (random.chance(mediaShare)) return 'media';
  return random.pick<Kind>([
    ...(['json', 'json', 'json', 'json', 'form', 'form', 'large-form', 'large-form'] as const),
    ...(['text', 'empty', 'gzip', 'broken-json', 'broken-form'] as const),
  ]);
}

type Body = Pick<Callback, 'headers' | 'body' | 'items'>;

const BODIES: Record<Kind, (random: Random, sizes: Sizes) => Body> = {
  json(random) {
    const body = transcript(random);
    return { headers: { 'content-type': 'application/json' }, body, items: [item('transcript.json', body)] };
  },
  text(random) {
    const body = Buffer.from(`words ${random.bytes(random.whole(10, 4_000)).toString('hex')}`);
    return { headers: { 'content-type': 'text/plain' }, body, items: [item('transcript.txt', body)] };
  },
  empty: () => ({ headers: {}, body: Buffer.alloc(0), items: [] }),
  gzip(random) {
    const body = transcript(random);
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    return { headers, body: gzipSync(body), items: [item('transcript.json', body)] };
  },
  form: (random) =>
    form(random, {
      'transcript.json-v2': transcript(random),
      'transcript.txt': Buffer.from(random.bytes(random.whole(1, 3_000)).toString('base64')),
      jobinfo: Buffer.from(JSON.stringify({ id: 'x', nonce: random.next() })),
    }),
  // Parts that are written side by side: when one fails, the others are still under way.
  'large-form': (random) =>
    form(random, {
      'transcript.json-v2': transcriptOf(random.bytes(random.whole(20_000, 120_000))),
      'transcript.txt': Buffer.from(random.bytes(random.whole(20_000, 120_000)).toString('base64')),
      'transcript.srt': Buffer.from(random.bytes(random.whole(20_000, 120_000)).toString('base64')),
      jobinfo: Buffer.from(JSON.stringify({ id: 'x', nonce: random.bytes(20_000).toString('base64') })),
    }),
  media: (random, { media }) =>
    form(random, {
      'transcript.json-v2': transcript(random),
      data: random.bytes(random.whole(media[0], media[1])),
    }),
  'broken-json'(random) {
    const body = transcript(random);
    return {
      headers: { 'content-type': 'application/json' },
      body: body.subarray(0, body.length - 2),
      items: [],
    };
  },
  'broken-form'(random) {
    const { headers, body } = form(random, { 'transcript.txt': Buffer.from('never ended') });
    return { headers, body: body.subarray(0, body.length - 6), items: [] };
  },
};

const FILES: Readonly<Record<string, string>> = {
  'transcript.json-v2': 'transcript.json',
  'transcript.txt': 'transcript.txt',
  'transcript.srt': 'transcript.srt',
  jobinfo: 'jobinfo.json',
  data: 'data',
};

function form(random: Random, parts: Readonly<Record<string, Buffer>>): Body {
  const boundary = `chaos${random.bytes(12).toString('hex')}`;
  const chunks = Object.entries(parts).flatMap(([name, content]) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.bin"\r\n` +
        'Content-Type: application/octet-stream\r\n\r\n',
    ),
    content,
    Buffer.from('\r\n'),
  ]);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    items: Object.entries(parts).map(([name, content]) => item(FILES[name] ?? name, content)),
  };
}

function transcript(random: Random): Buffer {
  return transcriptOf(random.bytes(random.whole(20, 8_000)));
}

function transcriptOf(nonce: Buffer): Buffer {
  const content = nonce.toString('base64');
  return Buffer.from(JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: [{ content }] }));
}

function item(file: string, content: Buffer): SentItem {
  return { file, sha256: sha256(content), size: content.length };
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
