import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A fence of TypeScript or JavaScript in the documentation. */
export interface Snippet {
  /** `docs/realtime.md#2`: the page, and the number of the snippet on it. */
  readonly name: string;
  readonly language: string;
  readonly code: string;
  /** A part of a source file, compiled there. */
  readonly quoted: boolean;
}

const FENCE = /(<!-- quoted from \S+ -->\n)?^```(ts|tsx|mts|typescript|js|jsx|mjs|javascript)\n(.*?)^```$/gms;

/** An example at the end of a comment, and the function or method behind it. */
const EXAMPLE = /@example\n((?: *\* ?.*\n)+?) *\*\/\n *(?:export (?:async )?function )?(\w+)/g;

/** All of README and docs, in the order of the pages. */
export function documentedSnippets(): Snippet[] {
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => `docs/${file}`);
  return ['README.md', ...pages].flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(FENCE)].map(
      ([, quoted, language = '', code = ''], index) => ({
        name: `${page}#${index + 1}`,
        language,
        code,
        quoted: quoted !== undefined,
      }),
    ),
  );
}

/** The examples in the comments of functions that a package's modules declare, by `<file>#<function>`. */
export function documentedExamples(folders: readonly string[]): Map<string, string> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );
  return new Map(
    files.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(EXAMPLE)].map(([, code = '', name = '']) => [
        `${file}#${name}`,
        code.replaceAll(/^ *\* ?/gm, ''),
      ]),
    ),
  );
}

export function snippet(name: string): Snippet {
  const found = documentedSnippets().find((one) => one.name === name);
  if (!found) throw new Error(`There is no snippet ${name}`);
  return found;
}

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...values: unknown[]) => Promise<Record<string, unknown>>;

/**
 * Runs a snippet and gives the functions that it exports, and those of its `results` that it declares. Its imports come out
 * of `modules`, other names out of `scope`, which hides globals of the same name.
 */
export async function runSnippet(
  { name, code }: Pick<Snippet, 'name' | 'code'>,
  modules: Readonly<Record<string, object>>,
  {
    scope = {},
    results = [],
  }: { scope?: Readonly<Record<string, unknown>>; results?: readonly string[] } = {},
): Promise<Record<string, unknown>> {
  const { code: script } = transformSync(code, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  const exported = [...script.matchAll(/\bexport (?:async )?(?:function|const) (\w+)/g)].map(
    ([, one]) => one,
  );
  const body = script
    .replaceAll(/^import (\{[^}]*\}) from '([^']+)';$/gm, (_line, names, from) => {
      if (modules[from] === undefined) throw new Error(`${name} imports ${from}`);
      return `const ${String(names).replaceAll(' as ', ': ')} = modules[${JSON.stringify(from)}];`;
    })
    .replaceAll(/\bexport (?=(?:async )?(?:function|const) )/g, '');
  const returned = [...exported, ...results].join(', ');
  const run = new AsyncFunction('modules', ...Object.keys(scope), `${body}\nreturn { ${returned} };`);
  return run(modules, ...Object.values(scope));
}
