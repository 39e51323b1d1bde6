import type { ConfigFault, SettingPath } from './faults.js';

/** Where `${env:NAME}` and `${file:/path}` find their values, and what names this process. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws when the file cannot be read. */
  readonly readFile: (path: string) => string;
  readonly hostName: string;
}

const REFERENCE = /\$\{([^}]*)\}/g;

/** Puts the values of references into every string of the tree; what cannot be found is a fault naming it. */
export function resolveSecrets(
  tree: unknown,
  surroundings: Surroundings,
): { readonly resolved: unknown; readonly faults: readonly ConfigFault[] } {
  const faults: ConfigFault[] = [];
  return { resolved: resolve(tree, [], surroundings, faults), faults };
}

function resolve(
  value: unknown,
  path: SettingPath,
  surroundings: Surroundings,
  faults: ConfigFault[],
): unknown {
  if (typeof value === 'string') return resolveText(value, path, surroundings, faults);
  if (Array.isArray(value))
    return value.map((entry, index) => resolve(entry, [...path, index], surroundings, faults));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      resolve(entry, [...path, name], surroundings, faults),
    ]),
  );
}

function resolveText(
  text: string,
  path: SettingPath,
  surroundings: Surroundings,
  faults: ConfigFault[],
): string {
  return text.replace(REFERENCE, (reference, content: string) => {
    const found = lookUp(content, surroundings);
    if ('value' in found) return found.value;
    faults.push({ path, found: reference, expected: found.expected });
    return reference;
  });
}

function lookUp(
  content: string,
  surroundings: Surroundings,
): { readonly value: string } | { readonly expected: string } {
  const colon = content.indexOf(':');
  const kind = content.slice(0, colon);
  const name = content.slice(colon + 1);
  if (kind === 'env' && name !== '') {
    const value = surroundings.env[name];
    if (value === undefined) return { expected: `the environment variable ${name} to be set` };
    return value === '' ? { expected: `the environment variable ${name} not to be empty` } : { value };
  }
  if (kind === 'file' && name.startsWith('/')) return readSecretFile(name, surroundings);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax being explained
  return { expected: '${env:NAME} or ${file:/absolute/path}' };
}

/** Editors and `echo` end files with a newline that is no part of the secret; exactly one is dropped. */
function readSecretFile(
  path: string,
  surroundings: Surroundings,
): { readonly value: string } | { readonly expected: string } {
  try {
    const value = surroundings.readFile(path).replace(/\r?\n$/, '');
    return value === '' ? { expected: `the file ${path} not to be empty` } : { value };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    return { expected: `the file ${path} to be readable (${code})` };
  }
}
