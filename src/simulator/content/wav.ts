import { seededRandom } from '../seeded-random.js';
import type { Content } from './content.js';

const SAMPLE_RATE = 8_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
const BLOCK = 64 * 1024;
const SMALLEST = 44;
const LARGEST_RIFF = 0xffff_ffff;

/** Bytes of a WAV file of that many seconds (8 kHz, 16 bit, mono). */
export function wavSize(seconds: number): number {
  return SMALLEST + Math.round(seconds * SAMPLE_RATE) * 2;
}

export function wavSeconds(bytes: number): number {
  return Math.max(0, bytes - SMALLEST) / BYTES_PER_SECOND;
}

/**
 * A playable WAV file of exactly `size` bytes (at least 44), made block by block. Every block carries its
 * number in its first samples, so that a block lost, doubled or swapped changes the bytes. Files RIFF cannot
 * describe (4 GiB and more) are written as RF64 (EBU Tech 3306).
 */
export function wavContent(seed: string, size: number): Content {
  if (size < SMALLEST) throw new RangeError(`A WAV file has at least ${SMALLEST} bytes, asked for ${size}`);
  return {
    size,
    contentType: 'audio/wav',
    async *chunks() {
      const header = wavHeader(size);
      yield header;
      const melody = melodyBlock(seed);
      for (let sent = header.length, block = 0; sent < size; block += 1) {
        const chunk = Buffer.from(melody.subarray(0, Math.min(BLOCK, size - sent)));
        if (chunk.length >= 8) chunk.writeUInt32LE(block, 4);
        yield chunk;
        sent += chunk.length;
      }
    },
  };
}

function wavHeader(size: number): Buffer {
  const long = size - 8 > LARGEST_RIFF;
  const header = Buffer.alloc(long ? 80 : SMALLEST);
  // For players an odd last byte is behind the file's end: samples are two bytes.
  const data = size - header.length - ((size - header.length) % 2);
  header.write(long ? 'RF64' : 'RIFF', 0, 'latin1');
  header.writeUInt32LE(long ? LARGEST_RIFF : header.length - 8 + data, 4);
  header.write('WAVE', 8, 'latin1');
  if (long) writeDs64(header, data);
  const format = header.length - 32;
  header.write('fmt ', format, 'latin1');
  header.writeUInt32LE(16, format + 4);
  header.writeUInt16LE(1, format + 8);
  header.writeUInt16LE(1, format + 10);
  header.writeUInt32LE(SAMPLE_RATE, format + 12);
  header.writeUInt32LE(BYTES_PER_SECOND, format + 16);
  header.writeUInt16LE(2, format + 20);
  header.writeUInt16LE(16, format + 22);
  header.write('data', header.length - 8, 'latin1');
  header.writeUInt32LE(long ? LARGEST_RIFF : data, header.length - 4);
  return header;
}

function writeDs64(header: Buffer, data: number): void {
  header.write('ds64', 12, 'latin1');
  header.writeUInt32LE(28, 16);
  header.writeBigUInt64LE(BigInt(header.length - 8 + data), 20);
  header.writeBigUInt64LE(BigInt(data), 28);
  header.writeBigUInt64LE(BigInt(data / 2), 36);
}

const NOTE_SAMPLES = SAMPLE_RATE / 4;
const NOTE_BYTES = NOTE_SAMPLES * 2;
const PITCHES = 24;

/** Four seconds of notes, different for every seed, repeated to fill a file. */
function melodyBlock(seed: string): Buffer {
  const random = seededRandom(`wav:${seed}`);
  const block = Buffer.alloc(BLOCK);
  for (let at = 0; at < BLOCK; at += NOTE_BYTES)
    noteAt(at / NOTE_BYTES, Math.floor(random() * PITCHES)).copy(block, at);
  return block;
}

/** Notes by place and pitch: the wave goes on where the note before would have ended. */
const notes = new Map<number, Buffer>();

function noteAt(place: number, pitch: number): Buffer {
  const name = place * PITCHES + pitch;
  const note = notes.get(name) ?? playNote(place * NOTE_SAMPLES, 220 * 2 ** (pitch / 12));
  notes.set(name, note);
  return note;
}

function playNote(start: number, frequency: number): Buffer {
  const note = Buffer.alloc(NOTE_BYTES);
  for (let sample = 0; sample < NOTE_SAMPLES; sample += 1) {
    const fade = 1 - sample / NOTE_SAMPLES;
    const value = Math.sin((2 * Math.PI * frequency * (start + sample)) / SAMPLE_RATE) * fade * 8_000;
    note.writeInt16LE(Math.round(value), sample * 2);
  }
  return note;
}
