import { createHash } from 'node:crypto';
import type { Content } from './content.js';

const SAMPLE_RATE = 8_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
const BLOCK = 64 * 1024;
const SMALLEST = 44;
/** Size in the header of a larger file: RIFF cannot describe 4 GiB. */
const LARGEST_DATA = 0xffff_ff00;

/** Bytes of a WAV file of that many seconds (8 kHz, 16 bit, mono). */
export function wavSize(seconds: number): number {
  return SMALLEST + Math.round(seconds * SAMPLE_RATE) * 2;
}

export function wavSeconds(bytes: number): number {
  return Math.max(0, bytes - SMALLEST) / BYTES_PER_SECOND;
}

/**
 * A playable WAV file of exactly `size` bytes (at least 44), of noise that differs for every seed. Every block holds its number in
 * its first samples, so that a block lost, repeated or swapped changes the bytes.
 */
export function wavContent(seed: string, size: number): Content {
  if (size < SMALLEST) throw new RangeError(`A WAV file has at least ${SMALLEST} bytes, asked for ${size}`);
  return {
    size,
    contentType: 'audio/wav',
    async *chunks() {
      const header = wavHeader(size);
      yield header;
      const noise = createHash('shake256', { outputLength: BLOCK }).update(`wav:${seed}`).digest();
      for (let sent = header.length, block = 0; sent < size; block += 1) {
        const chunk = Buffer.from(noise.subarray(0, Math.min(BLOCK, size - sent)));
        if (chunk.length >= 8) chunk.writeUInt32LE(block, 4);
        yield chunk;
        sent += chunk.length;
      }
    },
  };
}

function wavHeader(size: number): Buffer {
  const header = Buffer.alloc(SMALLEST);
  // Samples have two bytes: an odd last byte is not part of the audio.
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
