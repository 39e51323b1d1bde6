import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as simulator from '../../src/simulator/simulator.js';
import * as realtime from '../../src/speech/realtime/realtime.js';
import * as speech from '../../src/speech/speech.js';
import { documentedExamples, documentedSnippets } from '../support/project/documented-snippets.js';
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

const entries = {
  'transcript-receiver/speech': speech,
  'transcript-receiver/realtime': realtime,
  'transcript-receiver/simulator': simulator,
};
/** Functions by their module; classes are written like types. */
const functions = Object.entries(entries).map(
  ([from, module]) =>
    [from, Object.keys(module).filter((name) => /^[a-z]/.test(name))] satisfies [string, string[]],
);
const examples = documentedExamples(['src/speech', 'src/simulator', 'src/lib/outbound']);

/** What an example takes from the program around it. */
const AROUND_EXAMPLES = `import { text } from 'node:stream/consumers';
${functions.map(([from, names]) => `import { ${names.join(', ')} } from '${from}';`).join('\n')}
import type { JobsClient, SpeechClients } from 'transcript-receiver/speech';
import type { SessionReport } from 'transcript-receiver/realtime';
declare const apiKey: string, key: string, batchUrl: string, callbackUrl: string, begunAt: Date;
declare const regions: Record<string, { batchUrl: string }>;
declare const clients: SpeechClients, jobs: JobsClient, report: SessionReport, audio: AsyncIterable<Uint8Array>;
`;

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

  it('are in the comments of all public functions of the clients', () => {
    const described = [...examples.keys()].map((name) => name.split('#')[1]);
    expect(functions.flatMap(([, names]) => names).filter((name) => !described.includes(name))).toEqual([]);
  });

  it('pass the type checker with --strict', async () => {
    await installPackages();
    await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
    await Promise.all(
      snippets.map(({ name, code }) =>
        writeFile(join(folder.path, fileOf(name)), `${AROUND[name] ?? ''}${code}\nexport {};\n`),
      ),
    );
    const bodies = [...examples.values()].map((code) => `async () => {\n${code}}`);
    await writeFile(
      join(folder.path, 'examples.ts'),
      `${AROUND_EXAMPLES}export const examples = [${bodies.join(', ')}];\n`,
    );
    const options = [
      ...['--ignoreConfig', '--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'],
      ...['--skipLibCheck', '--lib', 'es2023,dom', '--types', 'node'],
      ...['--typeRoots', join(ROOT, 'node_modules/@types')],
    ];
    const files = snippets.map(({ name }) => fileOf(name));
    expect(
      await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...files, 'examples.ts'], folder.path),
    ).toBe('');
  });
});

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
