import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ModuleItem, parseSync } from '@swc/core';

/** A declaration, by the file that holds it and its name there. */
interface Place {
  readonly file: string;
  readonly name: string;
}

interface DeclarationFile {
  /** What names stand for that come from other files; foreign packages are left out. */
  readonly imported: ReadonlyMap<string, Place>;
  readonly exported: ReadonlyMap<string, Place>;
  readonly declared: ReadonlyMap<string, Node>;
}

type Node = Readonly<Record<string, unknown>>;

const keyOf = ({ file, name }: Place): string => `${file}#${name}`;

/**
 * Types that the declarations of an entry reach and that the entry does not export by name, so that a caller could not
 * write them down: `Name, used by Other`. `entry` is a `.d.ts` file.
 */
export function unnamedTypes(entry: string): string[] {
  const named = new Set([...fileAt(entry).exported.values()].map((place) => keyOf(declarationOf(place))));
  const open = [...fileAt(entry).exported.values()].map(declarationOf);
  const seen = new Set(open.map(keyOf));
  const missing: string[] = [];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { declared, imported } = fileAt(place.file);
    for (const name of referencesIn(declared.get(place.name))) {
      const local = declared.has(name) ? { file: place.file, name } : imported.get(name);
      if (local === undefined) continue;
      const found = declarationOf(local);
      if (seen.has(keyOf(found))) continue;
      seen.add(keyOf(found));
      open.push(found);
      if (!named.has(keyOf(found))) missing.push(`${found.name}, used by ${place.name}`);
    }
  }
  return missing.sort();
}

/** Follows re-exports to the file that declares the name. */
function declarationOf({ file, name }: Place): Place {
  const { declared, exported } = fileAt(file);
  if (declared.has(name)) return { file, name };
  const next = exported.get(name);
  if (next === undefined) throw new Error(`${file} does not export ${name}`);
  return declarationOf(next);
}

const files = new Map<string, DeclarationFile>();

function fileAt(path: string): DeclarationFile {
  const known = files.get(path);
  if (known) return known;
  const imported = new Map<string, Place>();
  const exported = new Map<string, Place>();
  const declared = new Map<string, Node>();
  for (const item of parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript' }).body)
    readItem(item as ModuleItem & Node, path, { imported, exported, declared });
  const read = { imported, exported, declared };
  files.set(path, read);
  return read;
}

function readItem(
  item: Node,
  path: string,
  into: Record<'imported' | 'exported', Map<string, Place>> & { declared: Map<string, Node> },
): void {
  const source = (item.source as Node | null | undefined)?.value as string | undefined;
  const target = source === undefined ? null : declarationFile(path, source);
  const specifiers = (item.specifiers ?? []) as readonly Node[];
  if (item.type === 'ImportDeclaration') {
    for (const { local, imported } of target === null ? [] : specifiers) {
      const name = textOf(local);
      into.imported.set(name, { file: target ?? '', name: imported ? textOf(imported) : name });
    }
  } else if (item.type === 'ExportAllDeclaration') {
    if (target === null) return;
    for (const [name, place] of fileAt(target).exported) into.exported.set(name, place);
  } else if (item.type === 'ExportNamedDeclaration') {
    for (const { orig, exported } of specifiers) {
      const place = source === undefined ? into.imported.get(textOf(orig)) : null;
      const file = target ?? place?.file ?? path;
      into.exported.set(textOf(exported ?? orig), { file, name: place?.name ?? textOf(orig) });
    }
  } else {
    const declaration = (item.declaration ?? item) as Node;
    for (const name of namesOf(declaration)) {
      into.declared.set(name, declaration);
      if (item.type === 'ExportDeclaration') into.exported.set(name, { file: path, name });
    }
  }
}

/** Null for packages and for modules of Node. */
function declarationFile(from: string, source: string): string | null {
  const path = join(dirname(from), source.replace(/\.js$/, '.d.ts'));
  return source.startsWith('.') && existsSync(path) ? path : null;
}

const textOf = (identifier: unknown): string => String((identifier as Node).value);

function namesOf({ id, identifier, declarations }: Node): string[] {
  if (Array.isArray(declarations)) return declarations.map(({ id: one }: Node) => textOf(one));
  const name = id ?? identifier;
  return name ? [textOf(name)] : [];
}

/** Names of types that a declaration uses, those of private members left out. */
function referencesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(referencesIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, accessibility, typeName, expression, superClass, ...rest } = node as Node;
  if (accessibility === 'private' || type === 'PrivateProperty') return [];
  return [
    ...(type === 'TsTypeReference' ? [leftmost(typeName)] : referencesIn(typeName)),
    ...(type === 'TsExpressionWithTypeArguments' ? [leftmost(expression)] : referencesIn(expression)),
    ...(superClass ? [leftmost(superClass)] : []),
    ...Object.values(rest).flatMap(referencesIn),
  ];
}

function leftmost(name: unknown): string {
  const { left, value } = name as Node;
  return left === undefined ? String(value) : leftmost(left);
}
