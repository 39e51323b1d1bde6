import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DEFAULT_AUDIO_LIMITS } from '../../../../../src/speech/realtime/audio-sender.js';
import { RealtimeSession } from '../../../../../src/speech/realtime/session/session.js';
import type { RealtimeSocket, SocketEvents } from '../../../../../src/speech/realtime/socket/socket.js';

/** The network seam: what a session sends, and whatever a service might say, at any time. */
class FakeSocket implements RealtimeSocket {
  bufferedAmount = 0;
  readonly sent: (string | Uint8Array)[] = [];
  events: SocketEvents | null = null;

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  /** Whether the service answers the closing handshake. */
  answersClose = true;

  close(code: number): void {
    if (this.answersClose) this.events?.close(code, '');
  }

  terminate(): void {
    this.events?.close(1006, '');
  }

  listen(events: SocketEvents): void {
    this.events = events;
  }

  say(message: object): void {
    this.events?.message(JSON.stringify(message));
  }
}

async function startedSession(): Promise<{ socket: FakeSocket; session: RealtimeSession }> {
  const socket = new FakeSocket();
  const session = new RealtimeSession(socket, {
    service: 'realtime',
    region: 'eu1',
    audio: DEFAULT_AUDIO_LIMITS,
    startTimeoutMs: null,
    inactivityTimeoutMs: 60_000,
    closeTimeoutMs: 1000,
  });
  const starting = session.start({ type: 'raw', encoding: 'mulaw', sample_rate: 8000 }, { language: 'en' });
  socket.say({ message: 'RecognitionStarted', id: 'one' });
  await starting;
  return { socket, session };
}

describe('a session in time', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  // Rule: Realtime: Beyond the specification: silence of the service
  it('tolerates any silence while the service owes nothing', async () => {
    const { socket, session } = await startedSession();
    await jest.advanceTimersByTimeAsync(3_600_000);
    await session.sendAudio(new Uint8Array(100));
    socket.say({ message: 'AudioAdded', seq_no: 1 });
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(session.state).toBe('started');
    session.abort();
  });

  // Rule: Realtime: Beyond the specification: silence of the service
  // Rule: Silences: time-outs of live sessions
  it('counts silence from the last message while an acknowledgement is owed', async () => {
    const { socket, session } = await startedSession();
    await session.sendAudio(new Uint8Array(100));
    await jest.advanceTimersByTimeAsync(59_000);
    socket.say({ message: 'Info', type: 'x', reason: 'still here' });
    await jest.advanceTimersByTimeAsync(59_000);
    expect(session.state).toBe('started');
    await jest.advanceTimersByTimeAsync(1001);
    expect(session.state).toBe('closed');
    await expect(session.finished).rejects.toMatchObject({ kind: 'timeout', retryable: true });
  });

  it('counts silence anew when something is owed again', async () => {
    const { socket, session } = await startedSession();
    await session.sendAudio(new Uint8Array(100));
    socket.say({ message: 'AudioAdded', seq_no: 1 });
    await jest.advanceTimersByTimeAsync(50_000);
    await session.sendAudio(new Uint8Array(100));
    await jest.advanceTimersByTimeAsync(59_000);
    expect(session.state).toBe('started');
    session.abort();
  });

  // Rule: Realtime: Beyond the specification: bounded closing handshake
  it('cuts the connection when the closing handshake is not answered', async () => {
    const { socket, session } = await startedSession();
    socket.answersClose = false;
    session.abort();
    await jest.advanceTimersByTimeAsync(1001);
    await expect(session.closed).resolves.toBeUndefined();
  });

  // Rule: Realtime: Beyond the specification: silence of the service
  it('notices silence also while audio waits for room', async () => {
    const { session } = await startedSession();
    const sending = session.sendAudio(new Uint8Array(200_000));
    sending.catch(() => {});
    await jest.advanceTimersByTimeAsync(60_001);
    await expect(sending).rejects.toMatchObject({ kind: 'timeout' });
    expect(session.report().sent.seconds).toBe(10);
  });

  // Rule: Realtime: Limits: `additional_vocab`: start up to 15 s
  it('waits at least 15 s for RecognitionStarted', async () => {
    const socket = new FakeSocket();
    const { session: other } = await startedSession();
    other.abort();
    const session = new RealtimeSession(socket, {
      service: 'realtime',
      region: 'eu1',
      audio: DEFAULT_AUDIO_LIMITS,
      startTimeoutMs: null,
      inactivityTimeoutMs: 10,
      closeTimeoutMs: 1000,
    });
    const starting = session.start({ type: 'file' }, { language: 'en', additional_vocab: ['gnocchi'] });
    await jest.advanceTimersByTimeAsync(20_000);
    socket.say({ message: 'RecognitionStarted', id: 'late' });
    await expect(starting).resolves.toMatchObject({ id: 'late' });
    session.abort();
  });

  // Rule: Realtime: Limits: bounded socket buffer
  it('holds audio back while the socket has too much buffered', async () => {
    const { socket, session } = await startedSession();
    socket.bufferedAmount = DEFAULT_AUDIO_LIMITS.socketBufferedBytes + 1;
    let settled = false;
    const sending = session.sendAudio(new Uint8Array(100)).then(() => {
      settled = true;
    });
    await jest.advanceTimersByTimeAsync(500);
    expect([settled, socket.sent.length]).toEqual([false, 1]);
    socket.bufferedAmount = 0;
    await jest.advanceTimersByTimeAsync(20);
    await sending;
    expect(socket.sent).toHaveLength(2);
    session.abort();
  });
});

describe('a session and odd services', () => {
  // Rule: Realtime: Session: StartRecognition exactly once
  it('keeps its first id when RecognitionStarted is repeated', async () => {
    const { socket, session } = await startedSession();
    socket.say({ message: 'RecognitionStarted', id: 'two' });
    expect([session.id, session.state]).toEqual(['one', 'started']);
    session.abort();
  });

  // Rule: Realtime: Server-to-client messages: `EndOfTranscript`: nothing follows
  it('ignores what follows EndOfTranscript', async () => {
    const { socket, session } = await startedSession();
    socket.answersClose = false;
    const ending = session.end();
    await new Promise(setImmediate);
    socket.say({ message: 'EndOfTranscript' });
    const metadata = { start_time: 0, end_time: 1, transcript: 'late' };
    socket.say({ message: 'AddTranscript', metadata, results: [] });
    expect(await ending).toMatchObject({ state: 'finished', complete: true });
    expect(session.report().segments).toEqual([]);
    socket.terminate();
  });

  it('sends EndOfStream after all audio, also after audio that was not awaited', async () => {
    const { socket, session } = await startedSession();
    const sending = session.sendAudio(new Uint8Array(120_000));
    const ending = session.end();
    await new Promise(setImmediate);
    expect(socket.sent.filter((data) => typeof data === 'string')).toHaveLength(1);
    for (let frame = 1; frame <= 15; frame += 1) {
      socket.say({ message: 'AudioAdded', seq_no: frame });
      await new Promise(setImmediate);
    }
    await sending;
    expect(socket.sent.at(-1)).toBe('{"message":"EndOfStream","last_seq_no":15}');
    socket.say({ message: 'EndOfTranscript' });
    await ending;
  });

  // Rule: Contradictions: audio after the limit: ignored, or error
  // Rule: Realtime: Session: duration limit: later audio acknowledged and ignored, session ends
  // Rule: Realtime: Server-to-client messages: Warning `duration_limit_exceeded`: `duration_limit`
  it('reports which acknowledged audio the duration limit discarded', async () => {
    const { socket, session } = await startedSession();
    for (let frame = 0; frame < 3; frame += 1) await session.sendAudio(new Uint8Array(8000));
    socket.say({ message: 'AudioAdded', seq_no: 1 });
    const warning = {
      message: 'Warning',
      type: 'duration_limit_exceeded',
      reason: 'long',
      duration_limit: 1,
    };
    socket.say(warning);
    expect(session.state).toBe('ending');
    socket.say({ message: 'AudioAdded', seq_no: 2 });
    socket.say({ message: 'AudioAdded', seq_no: 3 });
    socket.say({ message: 'EndOfTranscript' });
    expect(await session.finished).toMatchObject({
      acknowledged: { frames: 3, seconds: 3 },
      ignored: { frames: 2, bytes: 16_000, seconds: 2 },
      durationLimit: 1,
    });
    expect(socket.sent.filter((data) => typeof data === 'string')).toHaveLength(1);
  });

  it('keeps a bounded number of notices', async () => {
    const { socket, session } = await startedSession();
    for (let n = 0; n < 1000; n += 1) socket.say({ message: 'Info', type: 'x', reason: String(n) });
    expect(session.report().notices).toHaveLength(100);
    session.abort();
  });

  it('removes listeners again', async () => {
    const { socket, session } = await startedSession();
    const seen: string[] = [];
    const off = session.on('Info', ({ reason }) => seen.push(reason));
    socket.say({ message: 'Info', type: 'x', reason: 'first' });
    off();
    socket.say({ message: 'Info', type: 'x', reason: 'second' });
    expect(seen).toEqual(['first']);
    session.abort();
  });
});
