import { expect, it } from '@jest/globals';
import { outputTo } from '../../../../src/cli/transcript/transcript-output.js';

async function shown(isTTY: boolean, chunks: readonly Buffer[]): Promise<string> {
  const written: Buffer[] = [];
  const stream = {
    isTTY,
    write: (bytes: Buffer | string) => {
      written.push(Buffer.from(bytes as string));
      return true;
    },
    once: () => stream,
  };
  const output = outputTo(stream as unknown as Parameters<typeof outputTo>[0]);
  for (const chunk of chunks) await output.write(chunk);
  await output.end();
  return Buffer.concat(written).toString();
}

const HOSTILE = 'one\u001b]0;title\u0007\u202e two';

it('keeps control characters of a transcript from a terminal, and ends its last line', async () => {
  expect(await shown(true, [Buffer.from(HOSTILE)])).toBe('one ]0;title  two\n');
});

it('shows a character whose bytes came in two chunks', async () => {
  const bytes = Buffer.from('Grüße\n');
  expect(await shown(true, [bytes.subarray(0, 3), bytes.subarray(3)])).toBe('Grüße\n');
});

it('gives anything else the exact bytes', async () => {
  expect(await shown(false, [Buffer.from(HOSTILE)])).toBe(HOSTILE);
});
