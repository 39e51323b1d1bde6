import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiled sources by their hash; compiling takes most of a start. */
const CACHE = new URL('../node_modules/.cache/typescript/', import.meta.url);

/** Module hooks that compile TypeScript sources as they are loaded, with source maps. */
export async function resolve(specifier, context, next) {
  if (!specifier.startsWith('.') || !specifier.endsWith('.js')) return next(specifier, context);
  try {
    return await next(specifier.replace(/\.js$/, '.ts'), context);
  } catch {
    return next(specifier, context);
  }
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const file = fileURLToPath(url);
  const source = await readFile(file, 'utf8');
  return { format: 'module', source: await compiled(source, basename(file)), shortCircuit: true };
}

/** The name is that of the source in its source map, beside which the compiled one seems to lie. */
async function compiled(source, name) {
  const cached = new URL(`${createHash('sha256').update(`${name}\n${source}`).digest('hex')}.js`, CACHE);
  const known = await readFile(cached, 'utf8').catch(() => null);
  if (known !== null) return known;
  const { transform } = await import('@swc/core');
  const { code } = await transform(source, {
    filename: name,
    swcrc: false,
    sourceMaps: 'inline',
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  await keep(cached, code);
  return code;
}

/** Appears whole: other processes read it. Where nothing can be written, everything is compiled at each start. */
async function keep(file, text) {
  const written = new URL(`${randomUUID()}.tmp`, CACHE);
  try {
    await mkdir(CACHE, { recursive: true });
    await writeFile(written, text);
    await rename(written, file);
  } catch {}
}
