import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';

const LINTER = resolve('node_modules/markdownlint-cli2/markdownlint-cli2-bin.mjs');
const LONG = 'word '.repeat(40).trim();
const FIRST = 'word '.repeat(28).trim();
const REST = 'word '.repeat(12).trim();

describe('scripts/wrap-prose.mjs', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    const config = { default: false, 'wrap-prose': true };
    const rules = [resolve('scripts/wrap-prose.mjs')];
    writeFileSync(
      join(folder.path, '.markdownlint-cli2.jsonc'),
      JSON.stringify({ config, customRules: rules, noBanner: true, noProgress: true }),
    );
  });
  afterEach(() => folder.remove());

  function lint(...options: string[]) {
    const { status, stderr } = spawnSync(process.execPath, [LINTER, ...options, 'page.md'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    return { status, stderr };
  }

  function wrapped(text: string): string {
    writeFileSync(join(folder.path, 'page.md'), text);
    lint('--fix');
    expect(lint().status).toBe(0);
    return readFileSync(join(folder.path, 'page.md'), 'utf8');
  }

  it('reports a paragraph of another width', () => {
    writeFileSync(join(folder.path, 'page.md'), `${LONG}\n`);
    expect(lint()).toEqual({ status: 1, stderr: expect.stringContaining('wrap-prose') });
  });

  it('wraps paragraphs, in lists and quotations too, and joins short lines', () => {
    expect(wrapped(`${LONG}\n\nshort\nlines\n\n1. ${LONG}\n   - a\n     b\n\n> ${LONG}\n`)).toBe(
      `${FIRST}\n${REST}\n\nshort lines\n\n1. ${FIRST.slice(5)}\n   word ${REST}\n   - a b\n\n> ${FIRST.slice(5)}\n> word ${REST}\n`,
    );
  });

  it('neither divides code nor makes a list of what was none', () => {
    const begin = FIRST.slice(5);
    expect(wrapped(`${begin} \`code of words\`\n`)).toBe(`${begin}\n\`code of words\`\n`);
    expect(wrapped(`${FIRST} - 1. words\n`)).toBe(`${begin}\nword - 1. words\n`);
  });

  it('leaves tables, code, breaks and generated parts as they are', () => {
    const page = [
      ...[`| ${LONG} |`, '|---|', `| ${LONG} |`, '', '```text', LONG, '```', '', 'a\\', 'b', ''],
      ...['<!-- generated from x: npm run docs:tables -->', '', `- ${LONG}`, '', '<!-- end of x -->', ''],
    ].join('\n');
    expect(wrapped(page)).toBe(page);
  });
});
