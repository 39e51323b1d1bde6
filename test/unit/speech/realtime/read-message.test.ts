import { describe, expect, it } from '@jest/globals';
import { MalformedMessage, readMessage } from '../../../../src/speech/realtime/read-message.js';

const metadata = { start_time: 1, end_time: 2, transcript: 'Hi. ' };
const times = { start_time: 0, end_time: 0.5 };
const alternative = { content: 'Hi', confidence: 0.9, display: { direction: 'ltr' }, language: 'en' };

describe('a message of the service', () => {
  it.each([
    { message: 'RecognitionStarted', id: '807670e9-14af-4fa2-9e8f-5d525c22156e' },
    { message: 'AudioAdded', seq_no: 5 },
    {
      message: 'AddTranscript',
      metadata,
      results: [{ type: 'word', ...times, alternatives: [alternative] }],
    },
    { message: 'AddPartialTranscript', metadata, results: [{ type: 'punctuation', ...times, is_eos: true }] },
    { message: 'AddTranscript', metadata, results: [{ type: 'speaker_change', ...times, alternatives: [] }] },
    { message: 'AddTranscript', metadata, results: [{ type: 'a_later_type', ...times, more: 1 }] },
    { message: 'EndOfTranscript' },
    { message: 'Error', type: 'job_error', reason: 'worker timed out' },
    { message: 'Error', code: 7, type: 'a_later_type', reason: 'why not' },
    { message: 'Warning', type: 'duration_limit_exceeded', reason: 'too long', duration_limit: 60 },
    { message: 'Warning', type: 'a_later_type', reason: 'why not', extra: [1] },
    { message: 'Info', type: 'recognition_quality', reason: 'chosen', quality: 'telephony' },
    { message: 'Info', code: 1, type: 'model_redirect', reason: 'en' },
    {
      message: 'AddSegment',
      metadata: { start_time: 1, end_time: 2 },
      segment: { speaker: 'S1', transcript: 'Hi' },
    },
    { message: 'AddPartialSegment', metadata: { start_time: 1, end_time: 2 }, segment: { transcript: 'Hi' } },
    { message: 'StartOfTurn', turn_id: 3 },
    { message: 'EndOfTurn' },
    { message: 'SpeechStarted', probability: 0.5 },
    { message: 'SpeechEnded' },
    // Rule: Realtime: Transcript message body: result `type`: `word`, `punctuation`, `speaker_change`; open
    // Rule: Realtime: Transcript message body: alternative: `content`, `confidence`, `display`, `language`
    // Rule: Realtime: Session: StartRecognition accepted: `RecognitionStarted` with `id`
    // Rule: Realtime: Server-to-client messages: `RecognitionStarted`: `id`
    // Rule: Realtime: Server-to-client messages: `AudioAdded`: `seq_no` counts from 1
    // Rule: Realtime: Server-to-client messages: `Error`: `code` optional, `type`, `reason`
    // Rule: Realtime: Server-to-client messages: `Warning`: `code` optional, `type`, `reason`, extras
    // Rule: Realtime: Server-to-client messages: `Info`: `code` optional, `type`, `reason`, extras
    // Rule: Realtime: Beyond the specification: agent: `AddPartialSegment`, `AddSegment`, `StartOfTurn`, `EndOfTurn`, `SpeechStarted`,
    // `SpeechEnded`
  ])('of name $message is read with all its fields', (message) => {
    expect(readMessage(JSON.stringify(message))).toEqual(message);
  });

  // Rule: Realtime: Transcript message body: `results` may be missing
  it('without results has an empty list of them', () => {
    expect(readMessage(JSON.stringify({ message: 'AddTranscript', metadata }))).toMatchObject({
      results: [],
    });
  });

  it.each(['Info', 'Warning', 'Error'])('of name %s needs neither type nor reason', (message) => {
    expect(readMessage(JSON.stringify({ message, quality: 'telephony' }))).toEqual({
      message,
      type: 'unknown',
      reason: '',
      quality: 'telephony',
    });
    expect(readMessage(JSON.stringify({ message, type: 'job_error', reason: null }))).toEqual({
      message,
      type: 'job_error',
      reason: '',
    });
  });

  it.each(['AudioEventEnded', 'toString', '__proto__', 'unknown'])(
    // Rule: Realtime: Protocol objects: names are an open set
    // Rule: Silences: messages of agent sessions
    // Rule: Silences: negotiation of versions
    'of the unknown name %s is passed raw',
    (name) => {
      const raw = { message: name, payload: { deep: [1] } };
      expect(readMessage(JSON.stringify(raw))).toEqual({ message: 'unknown', name, raw });
    },
  );

  it.each([
    '',
    'null',
    '[]',
    '"AudioAdded"',
    '{}',
    '{"message":7}',
    '{"message":"RecognitionStarted"}',
    '{"message":"AudioAdded","seq_no":1.5}',
    '{"message":"AudioAdded"}',
    '{"message":"AddTranscript","metadata":{"start_time":"0","end_time":1,"transcript":""},"results":[]}',
    '{"message":"AddTranscript","metadata":{"start_time":0,"end_time":1,"transcript":""},"results":[{"type":"word"}]}',
    '{"message":"AddTranscript","metadata":{"start_time":0,"end_time":1,"transcript":""},"results":{}}',
    '{"message":"AddSegment","metadata":{"start_time":0,"end_time":1},"segment":{}}',
    // Rule: Realtime: Protocol objects: JSON text with a string `message`
    // Rule: Realtime: Transcript message body: `metadata`: `start_time`, `end_time`, `transcript`
  ])('that cannot be read is malformed: %s', (text) => {
    expect(() => readMessage(text)).toThrow(MalformedMessage);
  });
});
