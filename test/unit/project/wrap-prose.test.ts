import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';

const LINTER = resolve('node_modules/markdownlint-cli2/markdownlint-cli2-bin.mjs');
const LONG = 'word '.repeat(40).trim();
const FIRST = 'word '.repeat(28).trim();
const REST = 'word '.repeat(12).trim();

const IN_LISTS = `${LONG}\n\nshort\nlines\n\n1. ${LONG}\n   - a\n     b\n\n> ${LONG}\n`;
const BEGIN = FIRST.slice(5);
const CODE = `${BEGIN} \`code of words\`\n`;
const DASH = `${FIRST} - 1. words\n`;
const UNTOUCHED = [
  ...[`| ${LONG} |`, '|---|', `| ${LONG} |`, '', '```text', LONG, '```', '', 'a\\', 'b', ''],
  ...['<!-- generated from x: npm run docs:tables -->', '', `- ${LONG}`, '', '<!-- end of x -->', ''],
].join('\n');
const PAGES = { lists: IN_LISTS, code: CODE, dash: DASH, untouched: UNTOUCHED };

/** The linter takes all pages at once: most of what a run costs is its start. */
describe('scripts/wrap-prose.mjs', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let found: ReturnType<typeof lint>;
  let foundAfterwards: ReturnType<typeof lint>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const config = { default: false, 'wrap-prose': true };
    const rules = [resolve('scripts/wrap-prose.mjs')];
    writeFileSync(
      join(folder.path, '.markdownlint-cli2.jsonc'),
      JSON.stringify({ config, customRules: rules, noBanner: true, noProgress: true }),
    );
    for (const [name, text] of Object.entries(PAGES)) writeFileSync(join(folder.path, `${name}.md`), text);
    found = lint();
    lint('--fix');
    foundAfterwards = lint();
  });
  afterAll(() => folder.remove());

  function lint(...options: string[]) {
    const pages = Object.keys(PAGES).map((name) => `${name}.md`);
    const { status, stderr } = spawnSync(process.execPath, [LINTER, ...options, ...pages], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    return { status, stderr };
  }

  const wrapped = (name: keyof typeof PAGES) => readFileSync(join(folder.path, `${name}.md`), 'utf8');

  it('reports each page with a paragraph of another width, until it is wrapped', () => {
    expect(found).toEqual({ status: 1, stderr: expect.stringContaining('wrap-prose') });
    const reported = [...found.stderr.matchAll(/^(\w+)\.md:/gm)].map(([, name]) => name);
    expect([...new Set(reported)]).toEqual(['code', 'dash', 'lists']);
    expect(foundAfterwards.status).toBe(0);
  });

  it('wraps paragraphs, in lists and quotations too, and joins short lines', () => {
    expect(wrapped('lists')).toBe(
      `${FIRST}\n${REST}\n\nshort lines\n\n1. ${BEGIN}\n   word ${REST}\n   - a b\n\n> ${BEGIN}\n> word ${REST}\n`,
    );
  });

  it('neither divides code nor makes a list of what was none', () => {
    expect(wrapped('code')).toBe(`${BEGIN}\n\`code of words\`\n`);
    expect(wrapped('dash')).toBe(`${BEGIN}\nword - 1. words\n`);
  });

  it('leaves tables, code, breaks and generated parts as they are', () => {
    expect(wrapped('untouched')).toBe(UNTOUCHED);
  });
});
