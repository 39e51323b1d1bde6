import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface NamedTest {
  /** Below `test/`, without `.test.ts`. */
  readonly file: string;
  readonly name: string;
}

/** One row: a rule, and cells that name tests. */
export interface ConformanceRow {
  readonly rule: string;
  /** Names in backticks, which the tests must mention. */
  readonly tokens: readonly string[];
  /** Per column. Empty where the cell says `none: <reason>`. */
  readonly cells: readonly (readonly NamedTest[])[];
  /** The reason of cells without tests. */
  readonly reasons: readonly string[];
}

/** The rows of a page's tables; `testColumns` counts the last columns, which name tests. */
export function conformanceRows(page: string, testColumns: number): ConformanceRow[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  const isTable = (line: string | undefined) => line?.startsWith('| ') ?? false;
  return lines
    .filter((line, index) => isTable(line) && !lines[index + 1]?.startsWith('|---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter((cells) => cells.slice(-testColumns).some((cell) => /^\S+\/\S+: /.test(cell)))
    .map((cells) => {
      const rule = cells[0] ?? '';
      const testCells = cells.slice(-testColumns);
      return {
        rule,
        tokens: [...rule.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
        cells: testCells.map(testsOf),
        reasons: testCells.filter((cell) => /^none: ./.test(cell)),
      };
    });
}

function testsOf(cell: string): NamedTest[] {
  if (cell.startsWith('none: ')) return [];
  return cell.split('<br>').map((test) => {
    const at = test.indexOf(': ');
    return { file: test.slice(0, at), name: test.slice(at + 2) };
  });
}

/** The text of a test file; empty when there is none. */
export function testSource(file: string): string {
  const path = join(ROOT, 'test', `${file}.test.ts`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

export function testExists({ file, name }: NamedTest): boolean {
  const text = testSource(file);
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`));
}
