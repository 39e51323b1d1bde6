import { isJsonObject } from '../../lib/text/parse-json.js';
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

type Fields = Readonly<Record<string, unknown>>;
type Shape = (message: Fields) => boolean;

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isTimed = (value: unknown): value is Fields =>
  isJsonObject(value) && isTime(value.start_time) && isTime(value.end_time);

const isAlternative = (value: unknown): boolean => isJsonObject(value) && isText(value.content);

const isResult = (value: unknown): boolean =>
  isTimed(value) &&
  isText(value.type) &&
  (value.alternatives === undefined ||
    (Array.isArray(value.alternatives) && value.alternatives.every(isAlternative)));

const isTranscript: Shape = ({ metadata, results }) =>
  isTimed(metadata) && isText(metadata.transcript) && Array.isArray(results) && results.every(isResult);

const isSegment: Shape = ({ metadata, segment }) =>
  isTimed(metadata) && isJsonObject(segment) && isText(segment.transcript);

const anything: Shape = () => true;

/** What each message must hold to be of use; further fields are free, `completed` fills in others. */
const SHAPES: Readonly<Record<ServerMessage['message'], Shape>> = {
  RecognitionStarted: ({ id }) => isText(id),
  AudioAdded: ({ seq_no }) => Number.isSafeInteger(seq_no),
  AddTranscript: isTranscript,
  AddPartialTranscript: isTranscript,
  EndOfTranscript: anything,
  // These inform or end the session anyway: missing fields get defaults.
  Error: anything,
  Warning: anything,
  Info: anything,
  AddSegment: isSegment,
  AddPartialSegment: isSegment,
  StartOfTurn: anything,
  EndOfTurn: anything,
  SpeechStarted: anything,
  SpeechEnded: anything,
};

/** Reads one text frame. Throws `MalformedMessage` when it is not a message or lacks required fields. */
export function readMessage(text: string): ReceivedMessage {
  const raw = parse(text);
  const name = raw.message;
  if (!isText(name)) throw new MalformedMessage('A message of the service has no name');
  const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name as ServerMessage['message']] : undefined;
  if (shape === undefined) return { message: 'unknown', name, raw };
  const whole = completed(name as ServerMessage['message'], raw);
  if (!shape(whole)) throw new MalformedMessage(`${name} of the service lacks fields the protocol requires`);
  return whole as unknown as ServerMessage;
}

/** Defaults of fields that a message may lack. */
function completed(name: ServerMessage['message'], raw: Fields): Fields {
  switch (name) {
    case 'AddTranscript':
    case 'AddPartialTranscript':
      return raw.results === undefined ? { ...raw, results: [] } : raw;
    case 'Error':
    case 'Warning':
    case 'Info': {
      const { type, reason } = raw;
      return { ...raw, type: isText(type) ? type : 'unknown', reason: isText(reason) ? reason : '' };
    }
    default:
      return raw;
  }
}

function parse(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MalformedMessage('A message of the service is not JSON', { cause });
  }
  if (!isJsonObject(value)) throw new MalformedMessage('A message of the service is not an object');
  return value;
}
