import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentedSnippets } from '../support/project/documented-snippets.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/* The snippets of the documentation, as a reader pastes them: a project of its own that takes the built package. */

const ROOT = join(import.meta.dirname, '../..');

/** What a snippet takes from the text around it. */
const AROUND: Readonly<Record<string, string>> = {
  'docs/realtime.md#2': `import { type RealtimeSession, RealtimeSessionError, transcriptText } from 'transcript-receiver/realtime';
declare const session: RealtimeSession;
declare const audio: AsyncIterable<Uint8Array>;
declare const save: (text: string) => void;
declare const resumeFrom: (seconds: number) => void;
`,
  'docs/realtime.md#3': `declare const fetchTemporaryKey: () => Promise<string>;
declare const audioContext: { readonly sampleRate: number };
`,
};

/** Where the snippets of a page run. Quoted source is run by its own tests. */
const RUN_BY: Readonly<Record<string, string>> = {
  'docs/downstream.md': 'test/integration/events/documented-consumer.test.ts',
  'docs/realtime.md': 'test/integration/speech/documented-examples.test.ts',
  'docs/simulator.md': 'test/integration/speech/documented-examples.test.ts',
  'docs/speech-clients.md': 'test/integration/speech/documented-examples.test.ts',
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const snippets = documentedSnippets().filter(({ quoted }) => !quoted);
const fileOf = (name: string) => `${name.replaceAll(/[^\w]+/g, '-')}.ts`;

/** The package itself, and what snippets import beside it. */
async function installPackages(): Promise<void> {
  const imports = snippets.flatMap(({ code }) => [...code.matchAll(/ from '((?:@[^/']+\/)?[^/']+)/g)]);
  for (const name of new Set(imports.map(([, found = '']) => found))) {
    if (name.startsWith('node:')) continue;
    const link = join(folder.path, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(name === 'transcript-receiver' ? ROOT : join(ROOT, 'node_modules', name), link);
  }
}

describe('the snippets of the documentation', () => {
  it('are found, in TypeScript', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(7);
    expect(snippets.filter(({ language }) => language !== 'ts')).toEqual([]);
    const names = snippets.map(({ name }) => name);
    expect(Object.keys(AROUND).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('are run by a test', () => {
    expect(snippets.filter(({ name }) => !Object.hasOwn(RUN_BY, name.split('#')[0] ?? ''))).toEqual([]);
  });

  it('pass the type checker with --strict', async () => {
    await installPackages();
    await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
    await Promise.all(
      snippets.map(({ name, code }) =>
        writeFile(join(folder.path, fileOf(name)), `${AROUND[name] ?? ''}${code}\nexport {};\n`),
      ),
    );
    const options = [
      ...['--ignoreConfig', '--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'],
      ...['--skipLibCheck', '--lib', 'es2023,dom', '--types', 'node'],
      ...['--typeRoots', join(ROOT, 'node_modules/@types')],
    ];
    const files = snippets.map(({ name }) => fileOf(name));
    expect(await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...files], folder.path)).toBe('');
  });
});

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
