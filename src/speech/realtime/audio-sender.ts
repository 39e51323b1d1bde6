import { BYTES_PER_SAMPLE } from './check-config.js';
import { type FlowCount, FlowWindow } from './flow-window.js';
import type { AudioTally } from './session/session-report.js';
import type { RealtimeSocket } from './socket/socket.js';
import type { AudioFormat } from './wire.js';

/** Limits of audio ahead of its acknowledgement. Those of the protocol are upper bounds; options can only lower them. */
export interface AudioLimits {
  /** Frames without AudioAdded: at most 500, the default. */
  readonly unacknowledgedFrames: number;
  /** Seconds of raw audio without AudioAdded: at most 10, the default. */
  readonly unacknowledgedSeconds: number;
  /** Bytes of `file` audio without AudioAdded, in place of seconds, which are unknown. Default 256 KiB. */
  readonly unacknowledgedFileBytes: number;
  /** Bytes of one frame. Default 16 KiB; never more than one second of raw audio. */
  readonly frameBytes: number;
  /** Bytes the socket may hold back before audio waits. Default 256 KiB. */
  readonly socketBufferedBytes: number;
}

export const DEFAULT_AUDIO_LIMITS: AudioLimits = {
  unacknowledgedFrames: 500,
  unacknowledgedSeconds: 10,
  unacknowledgedFileBytes: 256 * 1024,
  frameBytes: 16 * 1024,
  socketBufferedBytes: 256 * 1024,
};

/** Browsers have no event for a drained socket buffer, so it is polled. */
const SOCKET_POLL_MS = 10;

/** Sends audio to a socket in frames, limited by the flow window and by the socket's buffer. */
export class AudioSender {
  readonly #socket: RealtimeSocket;
  readonly #limits: AudioLimits;
  readonly #onFrame: () => void;
  readonly #splitter: FrameSplitter;
  readonly #window: FlowWindow;
  readonly #bytesPerSecond: number | null;
  #refusal: Error | null = null;
  #wake: () => void = () => {};

  /** `onFrame` is called after each frame that was sent. */
  constructor(socket: RealtimeSocket, format: AudioFormat, limits: AudioLimits, onFrame: () => void) {
    const sampleBytes = format.type === 'raw' ? BYTES_PER_SAMPLE[format.encoding] : 1;
    this.#socket = socket;
    this.#limits = limits;
    this.#onFrame = onFrame;
    this.#bytesPerSecond = format.type === 'raw' ? sampleBytes * format.sample_rate : null;
    const bytes =
      this.#bytesPerSecond === null
        ? limits.unacknowledgedFileBytes
        : Math.floor(this.#bytesPerSecond * limits.unacknowledgedSeconds);
    this.#window = new FlowWindow({ frames: limits.unacknowledgedFrames, bytes });
    const frameBytes = Math.min(limits.frameBytes, bytes, this.#bytesPerSecond ?? bytes);
    this.#splitter = new FrameSplitter(sampleBytes, frameBytes);
  }

  /** Settles when the last frame of `chunk` was passed to the socket. Must not be called again before. */
  async send(chunk: Uint8Array): Promise<void> {
    for (const frame of this.#splitter.split(chunk)) {
      if (!this.#hasRoom(frame.length)) await this.#roomFor(frame.length);
      if (this.#refusal !== null) throw this.#refusal;
      this.#window.add(frame.length);
      this.#socket.send(frame);
      this.#onFrame();
    }
  }

  /** Rejects waiting and new audio with `error` from now on; acknowledgements are still counted. */
  refuse(error: Error): void {
    this.#refusal ??= error;
    this.#wake();
  }

  /** Returns false when the service acknowledges a frame that was never sent. */
  acknowledge(seqNo: number): boolean {
    const isKnown = this.#window.acknowledge(seqNo);
    this.#wake();
    return isKnown;
  }

  get allAcknowledged(): boolean {
    return this.#window.idle;
  }

  /** Bytes of an unfinished sample that are not sent yet. */
  get partialSampleBytes(): number {
    return this.#splitter.restBytes;
  }

  discardPartialSample(): void {
    this.#splitter.discardRest();
  }

  get sent(): AudioTally {
    return this.tally(this.#window.sent);
  }

  get acknowledged(): AudioTally {
    return this.tally(this.#window.acknowledged);
  }

  tally(count: FlowCount): AudioTally {
    const seconds = this.#bytesPerSecond === null ? null : count.bytes / this.#bytesPerSecond;
    return { frames: count.frames, bytes: count.bytes, seconds };
  }

  #hasRoom(bytes: number): boolean {
    return this.#window.admits(bytes) && this.#socket.bufferedAmount <= this.#limits.socketBufferedBytes;
  }

  async #roomFor(bytes: number): Promise<void> {
    while (this.#refusal === null && !this.#hasRoom(bytes)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#window.admits(bytes)) setTimeout(resolve, SOCKET_POLL_MS);
      });
    }
  }
}

/**
 * Splits chunks into frames of whole samples and bounded size. Keeps the bytes of an unfinished sample for the next
 * chunk, so that no frame divides a sample.
 */
export class FrameSplitter {
  readonly #sampleBytes: number;
  readonly #frameBytes: number;
  #rest: Uint8Array = new Uint8Array(0);

  /** `frameBytes`: maximum size of a frame; rounded down to whole samples, at least one. */
  constructor(sampleBytes: number, frameBytes: number) {
    this.#sampleBytes = sampleBytes;
    this.#frameBytes = Math.max(sampleBytes, frameBytes - (frameBytes % sampleBytes));
  }

  /** Bytes of an unfinished sample. */
  get restBytes(): number {
    return this.#rest.length;
  }

  /** Views into `chunk` when it begins with a sample, otherwise into a copy. */
  *split(chunk: Uint8Array): Generator<Uint8Array> {
    const bytes = this.#rest.length === 0 ? chunk : joined(this.#rest, chunk);
    const whole = bytes.length - (bytes.length % this.#sampleBytes);
    this.#rest = bytes.slice(whole);
    for (let start = 0; start < whole; start += this.#frameBytes) {
      yield bytes.subarray(start, Math.min(start + this.#frameBytes, whole));
    }
  }

  discardRest(): void {
    this.#rest = new Uint8Array(0);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
