import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';

/**
 * The first of the small changes of CONTRIBUTING.md, made on a copy of the sources: a kind of content is one entry of
 * src/domain/kinds.ts. It is one that nobody will add. The compiler names the two places that cannot follow from it; everything else does.
 */

const ROOT = join(import.meta.dirname, '../../..');
const COPIED = [
  'src',
  'config',
  'scripts',
  'docs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'test',
];

const KIND = 'transcript.morse';
const KINDS = 'src/domain/kinds.ts';
const ENTRY = `  'transcript.morse': {
    label: 'transcript (Morse code)',
    tokens: ['transcript.morse'],
    file: 'transcript.morse',
    mediaType: 'text/x-morse; charset=utf-8',
    check: 'text',
    beginning: /^MORSE\\b/,
    retention: 'transcript',
    document: 'morse',
  },
`;
const WRITER = 'src/simulator/content/job-contents.ts';
const VIEWER = 'src/operations/dashboard/views/transcript/transcript-loader.js';

const run = promisify(execFile);
let copy: Awaited<ReturnType<typeof temporaryFolder>>;

function edit(file: string, before: string, line: string): void {
  const path = join(copy.path, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(before);
  writeFileSync(path, text.replace(before, `${line}${before}`));
}

const textOf = (file: string) => readFileSync(join(copy.path, file), 'utf8');

/** Files in which the compiler finds an error. Several threads of it would check some files twice, and take twice the CPU. */
async function compile(project: string): Promise<string[]> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const options = '--pretty false --noEmit --declaration false --skipLibCheck --singleThreaded -p';
  const { stdout } = await run(tsc, [...options.split(' '), project], { cwd: copy.path }).catch(
    (error: { stdout: string }) => error,
  );
  return [...new Set([...stdout.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, file = '']) => file))];
}

/** What writes the modules of the page, the documents and the schema of the ledger, and then tries the kind: in one process. */
const PROGRAMS = [
  'scripts/copy-assets.mjs',
  'scripts/doc-tables.mjs',
  'scripts/ledger-schema.mjs',
  'test/support/project/kind-probe.ts',
];

beforeAll(async () => {
  copy = await temporaryFolder();
  for (const name of COPIED) {
    mkdirSync(dirname(join(copy.path, name)), { recursive: true });
    cpSync(join(ROOT, name), join(copy.path, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy.path, 'node_modules'));
  edit(KINDS, '  jobinfo: {', ENTRY);
});
afterAll(() => copy.remove());

describe('a kind added to the table', () => {
  it('is asked for by the compiler where it needs code: a writer of the simulator, a viewer of the page', async () => {
    expect([await compile('tsconfig.build.json'), await compile('src/operations/dashboard')]).toEqual([
      [WRITER],
      [VIEWER],
    ]);
    edit(
      WRITER,
      '  jobinfo: (',
      "  'transcript.morse': () => bufferContent(Buffer.from('MORSE ... --- ...\\n'), 'text/plain'),\n",
    );
    edit(VIEWER, "  'transcript.txt':", "  'transcript.morse': readTextTranscript,\n");
  });

  it('is received, archived, counted, described, and fetched from the service, in the page, the documents and the schema of the ledger', async () => {
    writeFileSync(join(copy.path, 'all.mjs'), PROGRAMS.map((file) => `import './${file}';\n`).join(''));
    const { stdout } = await run(
      process.execPath,
      ['--import', './scripts/run-typescript.mjs', 'all.mjs', KIND, join(copy.path, 'store')],
      { cwd: copy.path },
    );
    const artefact = { file: KIND, kind: KIND, contentType: 'text/x-morse; charset=utf-8', exact: true };
    expect(JSON.parse(stdout)).toEqual({
      hinted: [artefact],
      recognised: [artefact],
      form: [expect.objectContaining({ kind: 'transcript.json-v2', exact: true }), artefact],
      refetched: [artefact],
      counted: true,
      described: true,
      retentionClass: 'transcript',
    });
    expect(textOf('src/operations/dashboard/vendor/kinds.js')).toContain('transcript (Morse code)');
    expect(textOf('docs/store-layout.md')).toMatch(
      /^\| `transcript\.morse` \| .*`text\/x-morse; charset=utf-8`/m,
    );
    expect(textOf('docs/ledger.schema.json')).toContain('"transcript.morse"');
  });
});
