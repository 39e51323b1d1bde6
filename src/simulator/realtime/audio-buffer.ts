import type { AudioFormat } from '../../speech/realtime/wire.js';
import { Violation } from './check-client-message.js';

export interface AudioBufferLimits {
  /** Seconds of audio the server holds before it stops reading. */
  readonly bufferSeconds: number;
  /** Seconds that a client may send ahead of AudioAdded (document: 10 s, 500 frames). */
  readonly aheadSeconds: number;
  readonly aheadFrames: number;
  /** A frame above it is `data_error`. */
  readonly frameBytes: number;
}

/** Rate assumed for `file` audio, whose rate is unknown: 128 kbit/s. */
const FILE_BYTES_PER_SECOND = 16_000;

const SAMPLE_BYTES = { pcm_f32le: 4, pcm_s16le: 2, mulaw: 1 } as const;

/** The server's side of the audio: frames arrive, are read while the buffer has room, and are processed. */
export class AudioBuffer {
  readonly #limits: AudioBufferLimits;
  readonly #raw: boolean;
  readonly #sampleBytes: number;
  readonly #bytesPerSecond: number;
  readonly #unread: number[] = [];
  #unreadBytes = 0;
  #bufferedBytes = 0;
  #receivedFrames = 0;
  #receivedBytes = 0;
  #readFrames = 0;

  constructor(format: AudioFormat, limits: AudioBufferLimits) {
    this.#limits = limits;
    this.#raw = format.type === 'raw';
    this.#sampleBytes = format.type === 'raw' ? SAMPLE_BYTES[format.encoding] : 1;
    this.#bytesPerSecond =
      format.type === 'raw' ? this.#sampleBytes * format.sample_rate : FILE_BYTES_PER_SECOND;
  }

  get receivedFrames(): number {
    return this.#receivedFrames;
  }

  get endsInsideSample(): boolean {
    return this.#receivedBytes % this.#sampleBytes !== 0;
  }

  /** Frames and seconds sent ahead of AudioAdded. */
  get ahead(): { readonly frames: number; readonly seconds: number } {
    return { frames: this.#unread.length, seconds: this.#unreadBytes / this.#bytesPerSecond };
  }

  get empty(): boolean {
    return this.#bufferedBytes === 0 && this.#unread.length === 0;
  }

  /** A frame arrived. Throws `Violation` for one too large, or too far ahead. */
  receive(bytes: number): void {
    if (bytes > this.#limits.frameBytes) throw new Violation('data_error', 'Too much data in one frame');
    this.#receivedFrames += 1;
    this.#receivedBytes += bytes;
    this.#unread.push(bytes);
    this.#unreadBytes += bytes;
    const tooLong = this.#raw && this.ahead.seconds > this.#limits.aheadSeconds;
    if (tooLong || this.ahead.frames > this.#limits.aheadFrames) {
      throw new Violation('buffer_error', 'Audio is sent faster than it can be taken');
    }
  }

  /** Reads the frames that fit and returns their numbers. A frame larger than the buffer waits until that is empty. */
  read(): number[] {
    const capacity = this.#limits.bufferSeconds * this.#bytesPerSecond;
    const numbers: number[] = [];
    for (let next = this.#unread[0]; next !== undefined; next = this.#unread[0]) {
      if (this.#bufferedBytes > 0 && this.#bufferedBytes + next > capacity) break;
      this.#unread.shift();
      this.#unreadBytes -= next;
      this.#bufferedBytes += next;
      this.#readFrames += 1;
      numbers.push(this.#readFrames);
    }
    return numbers;
  }

  /** Processes at most `seconds` of buffered audio; returns the seconds processed. */
  process(seconds: number): number {
    const bytes = Math.min(this.#bufferedBytes, seconds * this.#bytesPerSecond);
    this.#bufferedBytes -= bytes;
    return bytes / this.#bytesPerSecond;
  }
}
