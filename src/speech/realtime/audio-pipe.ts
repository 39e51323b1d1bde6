import { BYTES_PER_SAMPLE } from './check-config.js';
import { type FlowCount, FlowWindow } from './flow-window.js';
import { FrameCutter } from './frame-cutter.js';
import type { AudioTally } from './session-report.js';
import type { RealtimeSocket } from './socket/socket.js';
import type { AudioFormat } from './wire.js';

/** How far audio may run ahead. The document's limits are ceilings; options can only lower them. */
export interface AudioLimits {
  /** Frames without AudioAdded: at most 500, the default. */
  readonly unacknowledgedFrames: number;
  /** Seconds of raw audio without AudioAdded: at most 10, the default. */
  readonly unacknowledgedSeconds: number;
  /** Bytes of `file` audio without AudioAdded, in place of seconds, which nobody knows there. Default 256 KiB. */
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

/** Browsers tell nobody when a socket's buffer drains; it has to be looked at. */
const SOCKET_POLL_MS = 10;

/** The way of audio into a socket: cut into frames, held back by the flow window and by the socket itself. */
export class AudioPipe {
  readonly #socket: RealtimeSocket;
  readonly #limits: AudioLimits;
  readonly #onFrame: () => void;
  readonly #cutter: FrameCutter;
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
    this.#cutter = new FrameCutter(sampleBytes, frameBytes);
  }

  /** Settles when the last frame of `chunk` was handed to the socket. Not to be called before it settled. */
  async send(chunk: Uint8Array): Promise<void> {
    for (const frame of this.#cutter.cut(chunk)) {
      if (!this.#hasRoom(frame.length)) await this.#roomFor(frame.length);
      if (this.#refusal !== null) throw this.#refusal;
      this.#window.add(frame.length);
      this.#socket.send(frame);
      this.#onFrame();
    }
  }

  /** From now on audio, waiting or new, is refused with `error`; acknowledgements are still counted. */
  refuse(error: Error): void {
    this.#refusal ??= error;
    this.#wake();
  }

  /** Returns false when the service acknowledges what was never sent. */
  acknowledge(seqNo: number): boolean {
    const sensible = this.#window.acknowledge(seqNo);
    this.#wake();
    return sensible;
  }

  get allAcknowledged(): boolean {
    return this.#window.idle;
  }

  /** Bytes of an unfinished sample that were held back. */
  get partialSampleBytes(): number {
    return this.#cutter.restBytes;
  }

  discardPartialSample(): void {
    this.#cutter.discardRest();
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
