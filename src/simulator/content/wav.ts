import { seededRandom } from '../seeded-random.js';
import type { Content } from './content.js';

const SAMPLE_RATE = 8_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
const BLOCK = 64 * 1024;
const SMALLEST = 44;
/** What the header of a larger file says: RIFF cannot describe 4 GiB. */
const LARGEST_DATA = 0xffff_ff00;

/** Bytes of a WAV file of that many seconds (8 kHz, 16 bit, mono). */
export function wavSize(seconds: number): number {
  return SMALLEST + Math.round(seconds * SAMPLE_RATE) * 2;
}

export function wavSeconds(bytes: number): number {
  return Math.max(0, bytes - SMALLEST) / BYTES_PER_SECOND;
}

/**
 * A playable WAV file of exactly `size` bytes (at least 44), made block by block. Every block carries its
 * number in its first samples, so that a block lost, doubled or swapped changes the bytes.
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
  const header = Buffer.alloc(SMALLEST);
  // For players an odd last byte is behind the file's end: samples are two bytes.
  const data = Math.min(size - SMALLEST - (size % 2), LARGEST_DATA);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(SMALLEST - 8 + data, 4);
  header.write('WAVE', 8, 'latin1');
  header.write('fmt ', 12, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(BYTES_PER_SECOND, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data, 40);
  return header;
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
