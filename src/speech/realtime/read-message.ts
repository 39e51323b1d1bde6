import { z } from 'zod';
import { isJsonObject, parseJson } from '../../lib/text/parse-json.js';
import type { ServerMessage } from './wire.js';

/** A message with an unknown name, passed on unchanged. */
export interface UnknownMessage {
  readonly message: 'unknown';
  readonly name: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

export type ReceivedMessage = ServerMessage | UnknownMessage;

/** The service sent something that cannot be read; a transcript may be lost with it, so it ends the session. */
export class MalformedMessage extends Error {}

const timed = z.looseObject({ start_time: z.number(), end_time: z.number() });

const result = timed.extend({
  type: z.string(),
  alternatives: z.array(z.looseObject({ content: z.string() })).optional(),
});

const transcript = z.looseObject({
  metadata: timed.extend({ transcript: z.string() }),
  results: z.array(result).default([]),
});

const segment = z.looseObject({ metadata: timed, segment: z.looseObject({ transcript: z.string() }) });

/** Tolerant: such a message informs or ends the session, whatever it lacks. */
const notice = z.looseObject({ type: z.string().catch('unknown'), reason: z.string().catch('') });

const anything = z.looseObject({});

/** Required fields of each message; further fields are allowed. */
const SHAPES: Readonly<Record<ServerMessage['message'], z.ZodType>> = {
  RecognitionStarted: z.looseObject({ id: z.string() }),
  AudioAdded: z.looseObject({ seq_no: z.int() }),
  AddTranscript: transcript,
  AddPartialTranscript: transcript,
  EndOfTranscript: anything,
  Error: notice,
  Warning: notice,
  Info: notice,
  AddSegment: segment,
  AddPartialSegment: segment,
  StartOfTurn: anything,
  EndOfTurn: anything,
  SpeechStarted: anything,
  SpeechEnded: anything,
};

/** Reads one text frame. Throws `MalformedMessage` when it is not a message or lacks required fields. */
export function readMessage(text: string): ReceivedMessage {
  const raw = parseJson(text);
  if (raw === undefined) throw new MalformedMessage('A message of the service is not JSON');
  if (!isJsonObject(raw)) throw new MalformedMessage('A message of the service is not an object');
  const name = raw.message;
  if (typeof name !== 'string') throw new MalformedMessage('A message of the service has no name');
  if (!Object.hasOwn(SHAPES, name)) return { message: 'unknown', name, raw };
  const { data, error: cause } = SHAPES[name as ServerMessage['message']].safeParse(raw);
  if (cause === undefined) return data as ServerMessage;
  throw new MalformedMessage(`${name} of the service lacks fields the protocol requires`, { cause });
}
