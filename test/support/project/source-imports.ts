import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));

export interface Import {
  readonly from: string;
  /** Path below src, or the name of a package. */
  readonly to: string;
  readonly typeOnly: boolean;
}

/** TypeScript files of src, relative to it, with their text without comments. The dashboard is JavaScript for browsers. */
export function readSources(): ReadonlyMap<string, string> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('operations/dashboard/'));
  return new Map(files.map((file) => [file, withoutComments(readFileSync(path.join(SRC, file), 'utf8'))]));
}

/** The README of a room of src. */
export function readRoomPage(room: string): string {
  return readFileSync(path.join(SRC, room, 'README.md'), 'utf8').replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

/** Every import statement, re-export and dynamic import of these sources. */
export function importsOf(sources: ReadonlyMap<string, string>): Import[] {
  return [...sources].flatMap(([file, text]) => importsOfFile(file, text));
}

function importsOfFile(from: string, source: string): Import[] {
  const statements = [
    ...source.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'";]*?from\s*['"]([^'"]+)['"]/gm),
    ...source.matchAll(/^\s*import\s+()['"]([^'"]+)['"]/gm),
    ...source.matchAll(/\bimport\(\s*()['"]([^'"]+)['"]\s*\)/g),
  ];
  return statements.map(([, type, specifier = '']) => ({
    from,
    to: specifier.startsWith('.')
      ? path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, '.ts')
      : specifier,
    typeOnly: type !== undefined && type !== '',
  }));
}

export const isOwn = ({ to }: Import) => to.endsWith('.ts');

/** The folder of src a file belongs to, or its own name at the top. */
export const area = (file: string) => (file.split('/')[0] ?? '').replace(/\.ts$/, '');
