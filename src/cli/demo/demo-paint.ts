/** Formats text for people: with colours on a terminal that supports them, plain otherwise. */
export interface Paint {
  heading(text: string): void;
  say(text: string): void;
  /** An indented line of columns; the last one may be long. */
  row(mark: 'good' | 'bad' | 'note', columns: readonly string[]): void;
  /** Something to copy. */
  copy(label: string, text: string): void;
}

const MARKS = { good: ['\x1b[32m', '+'], bad: ['\x1b[31m', '!'], note: ['\x1b[33m', '-'] } as const;
const RESET = '\x1b[0m';
const WIDTHS = [12, 5, 24];

export function createPaint(stream: NodeJS.WriteStream): Paint {
  const colours = stream.isTTY && stream.hasColors();
  const painted = (code: string, text: string) => (colours ? `${code}${text}${RESET}` : text);
  const line = (text = '') => stream.write(`${text}\n`);
  let steps = 0;
  return {
    heading(text) {
      steps += 1;
      line();
      line(painted('\x1b[1m', `${steps}. ${text}`));
    },
    say: (text) => line(`   ${text}`),
    row(mark, columns) {
      const [code, sign] = MARKS[mark];
      const cells = columns.map((text, n) => (n < columns.length - 1 ? text.padEnd(WIDTHS[n] ?? 0) : text));
      line(`   ${painted(code, sign)} ${cells.join('  ')}`);
    },
    copy(label, text) {
      line();
      line(`   ${label}`);
      line(`     ${painted('\x1b[36m', text)}`);
    },
  };
}
