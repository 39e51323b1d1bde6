import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../support/temporary-folder.js';

/* The snippets of docs/realtime.md, as a reader pastes them: a project of its own that takes the built package. */

const ROOT = join(import.meta.dirname, '../../../..');

/** What a snippet takes from the text around it. */
const AROUND = [
  '',
  `import { type RealtimeSession, RealtimeSessionError, transcriptText } from 'transcript-receiver/realtime';
declare const session: RealtimeSession;
declare const audio: AsyncIterable<Uint8Array>;
declare const save: (text: string) => void;
declare const resumeFrom: (seconds: number) => void;
`,
  `declare const fetchTemporaryKey: () => Promise<string>;
declare const audioContext: { readonly sampleRate: number };
`,
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

describe('the snippets of docs/realtime.md', () => {
  it('pass the type checker with --strict', async () => {
    const text = await readFile(join(ROOT, 'docs/realtime.md'), 'utf8');
    const snippets = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
    expect(snippets).toHaveLength(AROUND.length);
    await mkdir(join(folder.path, 'node_modules'));
    await symlink(ROOT, join(folder.path, 'node_modules/transcript-receiver'));
    await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
    await Promise.all(
      snippets.map((code, index) =>
        writeFile(join(folder.path, `snippet-${index}.ts`), `${AROUND[index]}${code}\nexport {};\n`),
      ),
    );
    const names = snippets.map((_, index) => `snippet-${index}.ts`);
    const types = [
      '--types',
      'node',
      '--typeRoots',
      join(ROOT, 'node_modules/@types'),
      '--lib',
      'es2023,dom',
    ];
    const options = [
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      ...types,
    ];
    const said = await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...names], folder.path);
    expect(said).toBe('');
  });
});

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
