import { describe, expect, it } from '@jest/globals';
import type { FaultAct, SessionFault } from '../../../src/simulator/realtime/session-script.js';
import { RealtimeSessionError } from '../../../src/speech/realtime/realtime.js';
import { failure, silence, withSimulator } from '../../support/realtime.js';

/** Frames of one second; on the fourth something goes wrong. */
const onFourth = (act: FaultAct): readonly SessionFault[] => [{ at: 4, act }];
const error = (type: string, code?: number): FaultAct => ({
  do: 'error',
  type,
  ...(code === undefined ? {} : { code }),
});
const AUDIO = Array.from({ length: 6 }, () => silence(1));
const ONE_SECOND_FRAMES = { frameBytes: 32_000 };

const DEATHS: readonly {
  readonly name: string;
  readonly act: FaultAct;
  readonly death: Partial<Record<keyof RealtimeSessionError, unknown>>;
}[] = [
  ...[
    'invalid_message',
    'invalid_config',
    'invalid_output_format',
    'data_error',
    'buffer_error',
    'protocol_error',
  ].map((type) => ({
    // Rule: Realtime: Session: Error ends the session
    // Rule: Realtime: Errors: `invalid_message`
    // Rule: Realtime: Errors: `invalid_config`
    // Rule: Realtime: Errors: `invalid_output_format`
    // Rule: Realtime: Errors: `data_error`
    // Rule: Realtime: Errors: `buffer_error`
    // Rule: Realtime: Errors: `protocol_error`
    name: `Error ${type} ends the session and is not worth repeating`,
    act: error(type),
    death: { kind: 'service-error', type, retryable: false, retryAfterMs: null },
  })),
  ...['job_error', 'unknown_error', 'quota_exceeded'].map((type) => ({
    // Rule: Realtime: Session: Error ends the session
    // Rule: Realtime: Server-to-client messages: `Error`: `code` optional, `type`, `reason`
    // Rule: Realtime: Errors: `job_error`
    // Rule: Realtime: Errors: `unknown_error`
    // Rule: Realtime: Errors: a dead session reports what was acknowledged and final
    name: `Error ${type} ends the session and is worth another try`,
    act: error(type, 1011),
    death: { kind: 'service-error', type, serviceCode: 1011, retryable: true, retryAfterMs: 5000 },
  })),
  {
    // Rule: Realtime: Errors: types are an open set
    // Rule: Contradictions: `invalid_config` is no error of StartRecognition
    name: 'Error of an unknown type keeps its type',
    act: error('worker_on_holiday'),
    death: { kind: 'service-error', type: 'worker_on_holiday', retryable: false },
  },
  {
    // Rule: Realtime: Beyond the specification: close codes 1003, 1008, 1011, 4001, 4003-4006, 4013, RFC 6455
    name: 'a connection cut midway is 1006 and worth another try',
    act: { do: 'drop' },
    death: { kind: 'socket-closed', closeCode: 1006, type: null, retryable: true },
  },
  ...(
    [
      [1000, null, false],
      [1001, null, true],
      [1003, 'protocol_error', false],
      [1008, null, false],
      [1011, 'unknown_error', true],
      [1012, null, true],
      [1013, null, true],
      [4001, 'not_authorised', false],
      [4003, 'not_allowed', false],
      [4004, 'invalid_model', false],
      [4005, 'quota_exceeded', true],
      [4006, 'timelimit_exceeded', false],
      [4013, 'job_error', true],
      [4999, null, false],
    ] as const
  ).map(([code, type, retryable]) => ({
    // Rule: Realtime: Beyond the specification: close codes 1003, 1008, 1011, 4001, 4003-4006, 4013, RFC 6455
    // Rule: Silences: handshake statuses, close and error codes
    name: `close code ${code} is typed`,
    act: { do: 'close', code } as const,
    death: { kind: 'socket-closed', closeCode: code, type, retryable },
  })),
  {
    // Rule: Realtime: Session: early `EndOfTranscript`: incomplete
    name: 'EndOfTranscript before the stream was ended is not a complete transcript',
    act: { do: 'send', frame: '{"message":"EndOfTranscript"}' },
    death: { kind: 'ended-early' },
  },
  {
    name: 'text that is not JSON ends the session',
    act: { do: 'send', frame: '{"message":' },
    death: { kind: 'malformed' },
  },
  {
    // Rule: Realtime: Protocol objects: audio is binary frames; the service sends none
    name: 'a binary frame of the service ends the session',
    act: { do: 'send', frame: new Uint8Array(4) },
    death: { kind: 'malformed' },
  },
  {
    // Rule: Realtime: Server-to-client messages: `AudioAdded`: `seq_no` counts from 1
    name: 'AudioAdded for a frame that was never sent ends the session',
    act: { do: 'send', frame: '{"message":"AudioAdded","seq_no":99}' },
    death: { kind: 'malformed' },
  },
];

describe('a session that dies', () => {
  it.each(DEATHS)('$name', ({ act, death }) =>
    withSimulator({ first: { faults: onFourth(act) } }, async (_simulator, start) => {
      const session = await start({ audio: ONE_SECOND_FRAMES });
      for (const second of AUDIO.slice(0, 4)) await session.sendAudio(second);
      const fault = await failure(RealtimeSessionError, session.finished);
      expect(fault).toMatchObject(death);
      expect(fault.report).toMatchObject({
        state: 'closed',
        complete: false,
        acknowledged: { frames: 3, bytes: 96_000, seconds: 3 },
        segments: [{ text: 'Welcome to this call we are glad. ' }],
      });
      expect((await failure(RealtimeSessionError, session.end())).message).toBe(fault.message);
      await session.closed;
    }),
  );

  // Rule: Realtime: Errors: a dead session reports what was acknowledged and final
  it('reports final results also when the service is silent after EndOfStream', () =>
    withSimulator({ first: { faults: [{ at: 'end', act: { do: 'stall' } }] } }, async (_simulator, start) => {
      // Longer than a busy machine may keep what the service said before.
      const session = await start({ inactivityTimeoutMs: 15_000 });
      const fault = await failure(RealtimeSessionError, session.stream(AUDIO));
      expect(fault).toMatchObject({ kind: 'timeout' });
      expect(fault.report).toMatchObject({ complete: false, acknowledged: { seconds: 6 } });
      expect(fault.report.segments).toHaveLength(2);
    }));

  it.each([
    'invalid_model',
    'invalid_audio_type',
    'not_authorised',
    'insufficient_funds',
    'not_allowed',
    'job_error',
    // Rule: Realtime: Session: StartRecognition fails: `invalid_model`, `invalid_audio_type`, `not_authorised`, `insufficient_funds`,
    // `not_allowed`, `job_error` Rule: Realtime: Errors: `invalid_model` Rule: Realtime: Errors: `invalid_audio_type` Rule: Realtime:
    // Errors: `not_authorised` Rule: Realtime: Errors: `insufficient_funds` Rule: Realtime: Errors: `not_allowed` Rule: Realtime: Errors:
    // `job_error`
  ])('Error %s in answer to StartRecognition rejects the start', (type) =>
    withSimulator(
      { first: { faults: [{ at: 'start', act: { do: 'error', type } }] } },
      async (_simulator, start) => {
        const fault = await failure(RealtimeSessionError, start());
        expect(fault).toMatchObject({ kind: 'service-error', type });
        expect(fault.report).toMatchObject({ id: null, sent: { frames: 0 } });
      },
    ),
  );

  // Rule: Realtime: Beyond the specification: silence of the service
  it('gives up when RecognitionStarted does not come within the start time-out', () =>
    withSimulator({ first: { startAfter: new Promise(() => {}) } }, async (_simulator, start) => {
      expect(await failure(RealtimeSessionError, start({ startTimeoutMs: 50 }))).toMatchObject({
        kind: 'timeout',
      });
    }));

  it('frees a caller who aborts while starting', () =>
    withSimulator({ first: { startAfter: new Promise(() => {}) } }, async (simulator, start) => {
      const abort = new AbortController();
      const starting = start({ signal: abort.signal });
      void simulator.session(0).then(() => abort.abort());
      await expect(starting).rejects.toThrow(/abort/);
    }));
});
