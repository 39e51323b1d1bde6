import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, jest } from '@jest/globals';
import type { Command } from 'commander';
import { completeHelp } from '../../../src/cli/help-pages.js';
import { COMMANDS } from '../../../src/cli/run-command.js';
import { EXIT } from '../../../src/cli/shared/exit-codes.js';
import { nextSteps } from '../../../src/domain/next-steps.js';
import { readSources } from '../../support/project/source-imports.js';

/** Every command that the documents show exists, with the options they show. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** In a key derivation, the name of the program begins a text that is no command. */
const KEY_TEXTS = ['operations/admin/access/sign-in.ts'];
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  'src/operations/dashboard/views/help-view.js',
  // Remedies, advice and examples.
  ...[...readSources().keys()].filter((file) => !KEY_TEXTS.includes(file)).map((file) => `src/${file}`),
];
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').replaceAll('\\\n', ' ');
const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };

interface Shown {
  readonly document: string;
  readonly line: string;
  readonly name: string;
  readonly options: readonly string[];
}

/** What follows a program's name to the end of the line, of the code span, or of the shell command. */
function shown(pattern: RegExp): Shown[] {
  return documents.flatMap((document) =>
    [...textOf(document).matchAll(pattern)].map(([line, name = '', rest = '']) => ({
      document,
      line: line.trim(),
      name,
      options: (rest.replace(/#.*/, '').match(/(?<=\s)--?[a-zA-Z][\w-]*/g) ?? []) as string[],
    })),
  );
}

function flagsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long, short }) => [long, short]);
  return ['--help', ...own.filter((flag) => flag !== undefined)];
}

describe('the command line in the documents', () => {
  // The name is also that of a Kubernetes namespace and of its deployment.
  const calls = shown(
    /^(?!.*kubectl)(?:.*?[\s`(])??(?:transcript-receiver|node dist\/main\.js) ([a-z-]+)([^`|&;\n]*)/gm,
  );

  it('is found', () => {
    expect(calls.length).toBeGreaterThan(40);
  });

  it.each(calls)('$document: $line', async ({ name, options }) => {
    const entry = COMMANDS[name];
    expect(entry === undefined ? name : null).toBeNull();
    const known = flagsOf(await loaded(name));
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
  });
});

describe('what is to be done next about a job', () => {
  const situations = [
    ...(['choose', 'refetch', 'import', 'acknowledge', 'erase', 'quarantine', 'find'] as const),
    ...(['record', 'lost', 'restore'] as const),
  ];
  const job = {
    jobId: 'j1',
    artefacts: [{ key: 'jobs/j1/conflicts/data.ab', sha256: 'ab', replaced: null }],
    timeline: [],
    failure: { outcome: 'failed', reason: null },
    service: null,
    serviceAnswer: 'found',
  };
  const bodies = [{ deliveryId: '01KJX3VZ8Q4M7T9B0C2D5E6F7G', state: 'waiting' }];
  const commands = situations.flatMap((situation) =>
    nextSteps(job, situation, bodies).map(({ command }) => command),
  );

  it.each([...new Set(commands)])('%s', async (text) => {
    const [, name = '', ...args] = text.split(' ');
    const command = await loaded(name);
    const run = jest.fn<() => void>();
    await command.exitOverride().action(run).parseAsync(args, { from: 'user' });
    expect(run).toHaveBeenCalled();
  });
});

async function loaded(name: string): Promise<Command> {
  const [, load] = COMMANDS[name] as NonNullable<(typeof COMMANDS)[string]>;
  return (await load()).createCommand();
}

async function helpOf(name: string): Promise<string> {
  let help = '';
  const command = completeHelp(await loaded(name));
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return help;
}

describe('the help', () => {
  it.each(Object.keys(COMMANDS))(
    'of %s has examples and exit codes, says where the configuration comes from, and shows no empty default',
    async (name) => {
      const help = await helpOf(name);
      expect(help).toMatch(/Examples:\n {2}\S/);
      expect(help).toMatch(/Exit codes:\n {2}0 {2}\S/);
      expect(help).toContain('NODE_CONFIG_DIR');
      expect(help).not.toMatch(/default: (\[\]|\{\}|false|"")/);
    },
  );
});

describe('the exit codes that say more than done, failed and wrong usage', () => {
  const used = [...readSources()].flatMap(([file, text]) => {
    const [, name = ''] = /^cli\/([a-z-]+)\.ts$/.exec(file) ?? [];
    const codes = [...text.matchAll(/\bEXIT\.(unrecoverable|incomplete)\b/g)].map(([, code]) => code);
    return Object.hasOwn(COMMANDS, name) ? [...new Set(codes)].map((code) => ({ name, code })) : [];
  });

  it.each(used)('are in the help of $name: $code', async ({ name, code }) => {
    const number = EXIT[code as 'unrecoverable' | 'incomplete'];
    expect(await helpOf(name)).toMatch(new RegExp(`Exit codes:(?:\\n {2}\\d {2}.*)*\\n {2}${number} {2}\\S`));
  });
});

describe('npm scripts in the documents', () => {
  const calls = shown(/\bnpm run ([a-z0-9:-]+)/g);

  it.each(calls)('$document: $line', ({ name }) => {
    expect(Object.keys(scripts)).toContain(name);
  });

  it('README shows the two commands of a fresh machine in this form', () => {
    expect(textOf('README.md')).toMatch(/^npm ci && npm start$/m);
    expect(textOf('README.md')).toMatch(/^npm ci && npm test$/m);
  });
});
