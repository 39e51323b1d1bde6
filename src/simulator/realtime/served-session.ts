import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type {
  AddPartialTranscript,
  AddTranscript,
  AudioFormat,
  ErrorType,
  Open,
  ServerMessage,
  StartRecognition,
  TranscriptionConfig,
} from '../../speech/realtime/wire.js';
import { AgentMessages } from './agent-messages.js';
import { AudioBuffer, type AudioBufferLimits } from './audio-buffer.js';
import {
  checkConfigChange,
  checkStartRecognition,
  parseClientMessage,
  readEndOfStream,
  Violation,
} from './check-client-message.js';
import type { KeyVerdict, ProcessingPace, SimulatedSession } from './realtime-interface.js';
import { Recogniser } from './recogniser.js';
import type { FaultAct, SessionScript } from './session-script.js';

export interface ServedSessionOptions {
  readonly service: 'realtime' | 'agent';
  readonly verdict: Promise<KeyVerdict>;
  readonly limits: AudioBufferLimits;
  readonly processing: ProcessingPace;
  /** Audio beyond it is ignored and ends the session. */
  readonly durationLimitSeconds: number;
  readonly script: SessionScript;
  /** Ends the TCP connection without a closing handshake, after all written data. */
  cut(): void;
}

const CLOSE_CODES: Readonly<Record<string, number>> = {
  invalid_message: 1003,
  invalid_audio_type: 1003,
  invalid_config: 1003,
  protocol_error: 1003,
  not_authorised: 4001,
  not_allowed: 4003,
  invalid_model: 4004,
  quota_exceeded: 4005,
  timelimit_exceeded: 4006,
  job_error: 4013,
  data_error: 1008,
  buffer_error: 1008,
  insufficient_funds: 1008,
};

/** Deprecated codes and the model that answers for them (Info `model_redirect`). */
const REDIRECTED: ReadonlySet<string> = new Set(['en-US', 'en-GB', 'en-AU']);

const TICK_MS = 20;

type State = 'connected' | 'starting' | 'started' | 'ending' | 'finished' | 'closed';

/** One session that enforces the protocol: a violation ends it with the specified Error. */
export class ServedSession implements SimulatedSession {
  readonly id = randomUUID();
  readonly received: (string | number)[] = [];
  readonly #socket: WebSocket;
  readonly #options: ServedSessionOptions;
  readonly #agent = new AgentMessages();
  #state: State = 'connected';
  #stalled = false;
  #endReceived = false;
  #buffer: AudioBuffer | null = null;
  #recogniser: Recogniser | null = null;
  #config: TranscriptionConfig | null = null;
  #heard = 0;
  #audioBytes = 0;
  #ticker: ReturnType<typeof setInterval> | undefined;

  constructor(socket: WebSocket, options: ServedSessionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('message', (data: Buffer, isBinary) => this.#message(data, isBinary));
    socket.on('close', () => this.#gone());
    socket.on('error', () => this.#gone());
  }

  get ahead(): { readonly frames: number; readonly seconds: number } {
    return this.#buffer?.ahead ?? { frames: 0, seconds: 0 };
  }

  async whenReceived(bytes: number): Promise<void> {
    while (this.#audioBytes < bytes) {
      await new Promise<void>((resolve) => this.#socket.once('message', () => resolve()));
    }
  }

  process(seconds: number): void {
    if (this.#stalled || this.#buffer === null || this.#recogniser === null) return;
    let left = seconds;
    for (;;) {
      this.#readFrames();
      const heard = this.#buffer.process(left);
      if (heard === 0) break;
      left -= heard;
      this.#hear(heard);
    }
    if (this.#state === 'ending' && this.#buffer.empty) this.#finish();
  }

  #message(data: Buffer, isBinary: boolean): void {
    this.received.push(isBinary ? data.length : data.toString());
    if (isBinary) this.#audioBytes += data.length;
    if (this.#stalled || this.#state === 'closed') return;
    try {
      if (isBinary) this.#audio(data.length);
      else this.#command(data.toString());
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#fail(error.type, error.message);
    }
  }

  #command(text: string): void {
    const message = parseClientMessage(text);
    switch (message.message) {
      case 'StartRecognition':
        this.#start(message);
        break;
      case 'SetRecognitionConfig':
        this.#change(message);
        break;
      case 'EndOfStream':
        this.#endOfStream(readEndOfStream(message));
        break;
      default:
        throw new Violation('invalid_message', `${message.message} is not a message`);
    }
  }

  #start(message: Readonly<Record<string, unknown>>): void {
    if (this.#state !== 'connected') throw new Violation('protocol_error', 'StartRecognition is sent once');
    const start = checkStartRecognition(message);
    this.#state = 'starting';
    void Promise.all([this.#options.verdict, this.#options.script.startAfter]).then(([verdict]) => {
      if (this.#state !== 'starting') return;
      if (verdict !== 'ok') this.#fail(verdict, 'The key does not permit this');
      else this.#started(start);
    });
  }

  #started({ audio_format: format, transcription_config: config }: StartRecognition): void {
    if (this.#faultsAt('start')) return;
    this.#state = 'started';
    this.#config = config;
    this.#buffer = new AudioBuffer(format, this.#options.limits);
    this.#recogniser = new Recogniser(config);
    this.#send({ message: 'RecognitionStarted', id: this.id });
    for (const info of infoMessages(format, config, this.#options.script.deprecated)) this.#send(info);
    const speed = this.#options.processing;
    if (typeof speed !== 'number') return;
    this.#ticker = setInterval(() => this.process((speed * TICK_MS) / 1000), TICK_MS);
  }

  #audio(bytes: number): void {
    // Ended by the duration limit: audio may still arrive, but nothing follows EndOfTranscript.
    if (this.#state === 'finished' && !this.#endReceived) return;
    if (this.#buffer === null || this.#endReceived || !['started', 'ending'].includes(this.#state)) {
      throw new Violation('protocol_error', 'Audio is taken between RecognitionStarted and EndOfStream only');
    }
    this.#buffer.receive(bytes);
    if (this.#faultsAt(this.#buffer.receivedFrames)) return;
    if (this.#options.processing === 'instant') this.process(Number.POSITIVE_INFINITY);
    else this.#readFrames();
  }

  #change(message: Readonly<Record<string, unknown>>): void {
    if (this.#state !== 'started' || this.#config === null) {
      throw new Violation('protocol_error', 'SetRecognitionConfig belongs between start and end');
    }
    this.#recogniser?.change(checkConfigChange(message, this.#config));
  }

  #endOfStream(lastSeqNo: number): void {
    // The client may not have seen duration_limit_exceeded yet: one EndOfStream is fine while ending, too.
    if (
      this.#endReceived ||
      this.#buffer === null ||
      !['started', 'ending', 'finished'].includes(this.#state)
    ) {
      throw new Violation('protocol_error', 'EndOfStream is sent once, after RecognitionStarted');
    }
    this.#endReceived = true;
    if (this.#state === 'finished' || this.#faultsAt('end')) return;
    const { receivedFrames: frames } = this.#buffer;
    if (lastSeqNo !== frames)
      throw new Violation('protocol_error', `${frames} frames came, not ${lastSeqNo}`);
    if (this.#buffer.endsInsideSample) throw new Violation('data_error', 'The audio ends inside a sample');
    this.#state = 'ending';
    if (this.#buffer.empty) this.#finish();
  }

  #readFrames(): void {
    for (const seq_no of this.#buffer?.read() ?? []) this.#send({ message: 'AudioAdded', seq_no });
  }

  #hear(seconds: number): void {
    const before = this.#heard;
    const limit = this.#options.durationLimitSeconds;
    this.#heard += seconds;
    if (before === Number.POSITIVE_INFINITY) return;
    this.#say(this.#recogniser?.hear(Math.min(this.#heard, limit) - before) ?? []);
    if (this.#heard <= limit) return;
    const reason = `Audio beyond ${limit} s is ignored`;
    this.#send({ message: 'Warning', type: 'duration_limit_exceeded', reason, duration_limit: limit });
    this.#heard = Number.POSITIVE_INFINITY;
    this.#state = 'ending';
  }

  #finish(): void {
    this.#say(this.#recogniser?.finish() ?? []);
    this.#send({ message: 'EndOfTranscript' });
    this.#state = 'finished';
    clearInterval(this.#ticker);
  }

  #say(transcripts: readonly (AddTranscript | AddPartialTranscript)[]): void {
    for (const transcript of transcripts) {
      if (this.#options.service === 'realtime') this.#send(transcript);
      else for (const message of this.#agent.messagesFor(transcript)) this.#send(message);
    }
  }

  /** Runs the faults of the script at this point; true when the session must not continue normally. */
  #faultsAt(at: 'start' | 'end' | number): boolean {
    const acts = (this.#options.script.faults ?? []).filter((fault) => fault.at === at).map(({ act }) => act);
    for (const act of acts) this.#act(act);
    return acts.some((act) => act.do !== 'send');
  }

  #act(act: FaultAct): void {
    switch (act.do) {
      case 'drop':
        // Not terminate(): a reset could take back transcripts that were already sent.
        this.#options.cut();
        this.#gone();
        break;
      case 'stall':
        this.#stalled = true;
        break;
      case 'close':
        this.#socket.close(act.code, act.reason ?? '');
        this.#gone();
        break;
      case 'error':
        this.#fail(act.type, act.reason ?? 'Asked for by the script', act.code);
        break;
      case 'send':
        this.#socket.send(act.frame);
        break;
    }
  }

  #fail(type: Open<ErrorType>, reason: string, code?: number): void {
    this.#send({ message: 'Error', type, reason, ...(code === undefined ? {} : { code }) });
    this.#socket.close(CLOSE_CODES[type] ?? 1011, type);
    this.#gone();
  }

  #gone(): void {
    this.#state = 'closed';
    clearInterval(this.#ticker);
  }

  #send(message: ServerMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** Info messages that follow RecognitionStarted. */
function infoMessages(
  format: AudioFormat,
  config: TranscriptionConfig,
  deprecated: string | undefined,
): ServerMessage[] {
  const quality = format.type === 'file' || format.sample_rate >= 12_000 ? 'broadcast' : 'telephony';
  const messages: ServerMessage[] = [
    { message: 'Info', type: 'recognition_quality', reason: 'Chosen by the audio', quality },
  ];
  if (REDIRECTED.has(config.language)) {
    messages.push({ message: 'Info', type: 'model_redirect', reason: `${config.language} is handled by en` });
  }
  if (deprecated !== undefined) messages.push({ message: 'Info', type: 'deprecated', reason: deprecated });
  return messages;
}
