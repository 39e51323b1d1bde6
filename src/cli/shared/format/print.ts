import { once } from 'node:events';
import { terminalJson, terminalText } from '../../../lib/text/terminal-text.js';
import { standardOutput } from './standard-output.js';

/** One JSON document on standard output, for programs. */
export function printJson(value: unknown): void {
  standardOutput.write(`${terminalJson(value)}\n`);
}

/**
 * Prints one JSON document with a list of any length, an entry a line, as a stream with back-pressure.
 */
export function printJsonList(name: string) {
  let before = `{${JSON.stringify(name)}: [\n`;
  const write = async (text: string) => {
    if (!standardOutput.write(text)) await once(process.stdout, 'drain');
  };
  return {
    async add(entries: readonly unknown[]): Promise<void> {
      if (entries.length === 0) return;
      const text = entries.map((entry) => terminalJson(entry, 0)).join(',\n');
      await write(`${before}${text}`);
      before = ',\n';
    },
    /** @param rest further members of the document */
    async end(rest: object): Promise<void> {
      const opening = before === ',\n' ? '\n' : before;
      await write(`${opening}], ${terminalJson(rest, 0).slice(1)}\n`);
    },
  };
}

/** Lines on standard error, for people: notes that are not part of the output. */
export function printNotes(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`transcript-receiver: ${terminalText(line)}\n`);
}

/** Lines on standard output, for people. Line feeds become blanks, so that a reason or an answer cannot look like a further line. */
export function printLines(lines: readonly string[]): void {
  standardOutput.write(lines.map((line) => `${terminalText(line).replaceAll('\n', ' ')}\n`).join(''));
}
