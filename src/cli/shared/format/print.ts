import { terminalJson, terminalText } from '../../../text/terminal-text.js';

/** One JSON document on standard output, for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(`${terminalJson(value)}\n`);
}

/** One JSON document in one line, for lists that have no end. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${terminalJson(value, 0)}\n`);
}

/** Lines on standard output, for people. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${terminalText(line)}\n`).join(''));
}
