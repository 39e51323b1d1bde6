import { AudioSender } from '../audio-sender.js';
import { changeableFields, checkChange, checkStart, fixedFields, wireConfig } from '../check-config.js';
import { MalformedMessage, type ReceivedMessage, readMessage } from '../read-message.js';
import { RealtimeProtocolError, RealtimeSessionError, type SessionFailure } from '../realtime-error.js';
import type { RealtimeRegion, SessionService } from '../realtime-region.js';
import type { RealtimeSocket } from '../socket/socket.js';
import { Watchdog } from '../socket/watchdog.js';
import { segmentOf, type TranscriptSegment } from '../transcript/transcript-segment.js';
import type {
  AudioFormat,
  ClientMessage,
  RecognitionStarted,
  TranscriptionConfig,
  WarningMessage,
} from '../wire.js';
import { type SessionEventMap, type SessionEventName, SessionEvents } from './session-events.js';
import { clientSideFailure, failureByClose, failureByError } from './session-failure.js';
import { SessionRecord } from './session-record.js';
import type { SessionReport, SessionState } from './session-report.js';
import { type SessionSettings, startTimeoutFor } from './session-settings.js';

/**
 * One realtime or agent session: one WebSocket, one job, one audio stream. It follows the protocol's states: a call
 * that they forbid throws `RealtimeProtocolError` or `RealtimeConfigError` before anything is sent.
 */
export class RealtimeSession {
  readonly service: SessionService;
  readonly region: RealtimeRegion;
  /** Resolves at EndOfTranscript after the stream has ended; rejects with `RealtimeSessionError` when the session fails. */
  readonly finished: Promise<SessionReport>;
  /** Resolves when the connection is closed, for any reason. */
  readonly closed: Promise<void>;

  readonly #socket: RealtimeSocket;
  readonly #settings: SessionSettings;
  readonly #events = new SessionEvents();
  readonly #watchdog: Watchdog;
  readonly #started = Promise.withResolvers<RecognitionStarted>();
  readonly #finished = Promise.withResolvers<SessionReport>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #record: SessionRecord;
  #state: SessionState = 'connected';
  #sender: AudioSender | null = null;
  #lastAudio: Promise<void> = Promise.resolve();
  #endAsked = false;
  #startTimer: ReturnType<typeof setTimeout> | undefined;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  /** For `connectSession`; `socket` is open and has no listener yet. */
  constructor(socket: RealtimeSocket, settings: SessionSettings) {
    this.service = settings.service;
    this.region = settings.region;
    this.finished = this.#finished.promise;
    this.closed = this.#closed.promise;
    // A caller may ignore both promises: a session that fails must not end the process as an unhandled rejection.
    for (const { promise } of [this.#started, this.#finished]) promise.catch(() => undefined);
    this.#record = new SessionRecord(settings.service, settings.region);
    this.#socket = socket;
    this.#settings = settings;
    this.#watchdog = new Watchdog(settings.inactivityTimeoutMs, () =>
      this.#fail(
        clientSideFailure('timeout', `The service was silent for ${settings.inactivityTimeoutMs} ms`),
      ),
    );
    socket.listen({
      message: (text) => this.#receive(text),
      binary: () => this.#fail(clientSideFailure('malformed', 'The service sent a binary frame')),
      close: (code, reason) => this.#socketClosed(code, reason),
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  /** From RecognitionStarted. */
  get id(): string | null {
    return this.#record.id;
  }

  /** Sends StartRecognition and waits for RecognitionStarted. Exactly once per session. */
  async start(audioFormat: AudioFormat, config: TranscriptionConfig): Promise<RecognitionStarted> {
    if (this.#sender !== null) throw new RealtimeProtocolError('start-repeated');
    if (this.#state !== 'connected') throw new RealtimeProtocolError('session-closed');
    checkStart(audioFormat, config);
    this.#record.config = config;
    this.#sender = new AudioSender(this.#socket, audioFormat, this.#settings.audio, () => this.#watch());
    const limitMs = this.#settings.startTimeoutMs ?? startTimeoutFor(config);
    this.#startTimer = setTimeout(() => {
      this.#fail(clientSideFailure('timeout', `The service did not start the session within ${limitMs} ms`));
    }, limitMs);
    this.#send({
      message: 'StartRecognition',
      audio_format: audioFormat,
      transcription_config: wireConfig(config),
    });
    return this.#started.promise;
  }

  /**
   * Sends audio; settles when all of `chunk` was passed to the socket, and waits while the service is behind. Await it before
   * reading more audio, or memory grows. Chunks are sent in the order of the calls.
   */
  async sendAudio(chunk: Uint8Array): Promise<void> {
    const sender = this.#sender;
    if (this.#state === 'connected' || sender === null) throw new RealtimeProtocolError('not-started');
    if (this.#endAsked) throw new RealtimeProtocolError('stream-ended');
    const sent = this.#lastAudio.then(() => sender.send(chunk));
    this.#lastAudio = sent.catch(() => {});
    await sent;
  }

  /** Changes `max_delay` and `enable_partials`; throws for any other change. */
  setRecognitionConfig(change: Partial<TranscriptionConfig>): void {
    const config = this.#record.config;
    if (this.#state === 'connected' || config === null) throw new RealtimeProtocolError('not-started');
    if (this.#state === 'closed') throw new RealtimeProtocolError('session-closed');
    if (this.#state !== 'started' || this.#endAsked) throw new RealtimeProtocolError('stream-ended');
    const fixed = fixedFields(change, config);
    if (fixed.length > 0) throw new RealtimeProtocolError('config-fixed', fixed.join(', '));
    checkChange(change);
    const next = { ...config, ...change };
    this.#record.config = next;
    this.#send({ message: 'SetRecognitionConfig', transcription_config: changeableFields(next) });
  }

  /**
   * Sends EndOfStream after all audio and waits for the end of the transcript. Throws when audio ends inside
   * a sample; `partialSample: 'discard'` drops those bytes. When the service has already ended the session at its
   * duration limit, nothing is sent.
   */
  async end(options: { readonly partialSample?: 'refuse' | 'discard' } = {}): Promise<SessionReport> {
    const sender = this.#sender;
    if (this.#endAsked) throw new RealtimeProtocolError('stream-ended');
    if (sender === null || this.#state === 'connected') throw new RealtimeProtocolError('not-started');
    this.#endAsked = true;
    await this.#lastAudio;
    if (this.#state !== 'started') return this.finished;
    if (sender.partialSampleBytes > 0 && options.partialSample !== 'discard') {
      this.#endAsked = false;
      throw new RealtimeProtocolError('partial-sample', `${sender.partialSampleBytes} bytes over`);
    }
    sender.discardPartialSample();
    this.#send({ message: 'EndOfStream', last_seq_no: sender.sent.frames });
    this.#enter('ending');
    return this.finished;
  }

  /** Sends all of `source`, then ends the stream. When `source` fails, the session stays open. */
  async stream(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: { readonly partialSample?: 'refuse' | 'discard' } = {},
  ): Promise<SessionReport> {
    for await (const chunk of source) {
      if (this.#record.limitReached) return this.finished;
      await this.sendAudio(chunk).catch((error: unknown) => {
        if (!this.#record.limitReached) throw error;
      });
    }
    return this.end(options);
  }

  /** Ends the session at once: final segments stay in the report, the rest is lost. */
  abort(reason = 'aborted by the caller'): void {
    this.#fail(clientSideFailure('aborted', reason));
  }

  /** Returns a function that removes the listener. */
  on<Name extends SessionEventName>(
    name: Name,
    listener: (value: SessionEventMap[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** The current state of the session, at any time. */
  report(): SessionReport {
    return this.#record.report(this.#state, this.#sender);
  }

  #receive(text: string): void {
    if (this.#state === 'closed' || this.#state === 'finished') return;
    this.#watchdog.heard();
    try {
      const message = readMessage(text);
      this.#apply(message);
      this.#events.emit(message.message, message);
      if (message.message === 'EndOfTranscript') this.#transcriptEnded();
      if (message.message === 'Error') this.#fail(failureByError(message));
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.#fail(clientSideFailure('malformed', error.message));
    }
    this.#watch();
  }

  #apply(message: ReceivedMessage): void {
    switch (message.message) {
      case 'RecognitionStarted':
        this.#recognitionStarted(message);
        break;
      case 'AudioAdded':
        this.#audioAdded(message.seq_no);
        break;
      case 'AddTranscript':
      case 'AddPartialTranscript':
      case 'AddSegment':
      case 'AddPartialSegment':
        this.#addSegment(segmentOf(message));
        break;
      case 'Warning':
        this.#record.addNotice(message);
        if (message.type === 'duration_limit_exceeded') this.#durationLimit(message);
        break;
      case 'Info':
        this.#record.addNotice(message);
        break;
    }
  }

  #recognitionStarted(message: RecognitionStarted): void {
    if (this.#state !== 'connected' || this.#sender === null) return;
    clearTimeout(this.#startTimer);
    this.#record.id = message.id;
    this.#enter('started');
    this.#started.resolve(message);
  }

  #audioAdded(seqNo: number): void {
    if (this.#sender?.acknowledge(seqNo) === true) return;
    throw new MalformedMessage(`The service acknowledged frame ${seqNo}, which was never sent`);
  }

  #addSegment(segment: TranscriptSegment): void {
    this.#record.addSegment(segment);
    this.#events.emit('segment', segment);
  }

  #durationLimit(warning: WarningMessage): void {
    if (this.#sender === null) return;
    this.#record.reachLimit(warning, this.#sender.acknowledged);
    this.#sender.refuse(new RealtimeProtocolError('duration-limit'));
    if (this.#state === 'started') this.#enter('ending');
  }

  #transcriptEnded(): void {
    if (this.#state !== 'ending') {
      this.#fail(
        clientSideFailure('ended-early', 'The service ended the transcript before the stream was ended'),
      );
      return;
    }
    this.#record.complete = true;
    this.#enter('finished');
    this.#sender?.refuse(new RealtimeProtocolError('stream-ended'));
    this.#finished.resolve(this.report());
    this.#closeSocket();
  }

  #fail(failure: SessionFailure): void {
    if (this.#state === 'closed' || this.#state === 'finished') return;
    this.#enter('closed');
    const error = new RealtimeSessionError(failure, this.report());
    clearTimeout(this.#startTimer);
    this.#sender?.refuse(error);
    this.#started.reject(error);
    this.#finished.reject(error);
    this.#closeSocket();
  }

  #socketClosed(code: number, reason: string): void {
    this.#fail(failureByClose(code, reason));
    clearTimeout(this.#closeTimer);
    if (this.#state !== 'closed') this.#enter('closed');
    this.#closed.resolve();
  }

  #closeSocket(): void {
    this.#watchdog.stop();
    this.#closeTimer = setTimeout(() => this.#socket.terminate(), this.#settings.closeTimeoutMs);
    this.#socket.close(1000, '');
  }

  #enter(state: SessionState): void {
    this.#state = state;
    this.#events.emit('state', state);
    this.#watch();
  }

  /** The watchdog runs while an acknowledgement or the end of the transcript is expected. */
  #watch(): void {
    if (this.#state === 'ending') this.#watchdog.expect(true);
    if (this.#state === 'started') this.#watchdog.expect(this.#sender?.allAcknowledged === false);
  }

  #send(message: ClientMessage): void {
    this.#socket.send(JSON.stringify(message));
  }
}
