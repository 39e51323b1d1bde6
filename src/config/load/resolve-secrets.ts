import type { ConfigFault, SettingPath } from '../config-error.js';
import { REFERENCE, WELL_FORMED } from './secret-reference.js';

/** Far larger than any header line. */
export const MAX_SECRET_BYTES = 65_536;

/** The process and host for which a configuration is read. */
export interface RuntimeContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** At least the first `MAX_SECRET_BYTES` and one more. Throws when the file cannot be read. */
  readonly readFile: (path: string) => string;
  readonly hostName: string;
  /** Names of the variables that the configuration knows; when absent, variables are not checked. */
  readonly variables?: ReadonlySet<string>;
  /** Faults of files and variables that could not be read and are missing in the tree. */
  readonly unread?: readonly ConfigFault[];
}

interface Search {
  readonly context: RuntimeContext;
  readonly faults: ConfigFault[];
}

/** Replaces the references in every string of the tree by their values; a value that cannot be found is a fault. */
export function resolveSecrets(
  tree: unknown,
  context: RuntimeContext,
): { readonly resolved: unknown; readonly faults: readonly ConfigFault[] } {
  const faults: ConfigFault[] = [];
  return { resolved: resolve(tree, [], { context, faults }), faults };
}

function resolve(value: unknown, path: SettingPath, search: Search): unknown {
  if (typeof value === 'string') return resolveText(value, path, search);
  if (Array.isArray(value)) return value.map((entry, index) => resolve(entry, [...path, index], search));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, resolve(entry, [...path, name], search)]),
  );
}

function resolveText(text: string, path: SettingPath, search: Search): string {
  return text.replace(
    REFERENCE,
    (reference: string, content: string | undefined, end: string | undefined) => {
      if (content === undefined) return '${';
      const found = end === '}' ? lookUp(content, search.context) : { expected: SYNTAX };
      if ('value' in found) return found.value;
      const harmless = end === '}' && WELL_FORMED.test(content);
      search.faults.push({ path, found: harmless ? reference : null, expected: found.expected });
      return reference;
    },
  );
}

const SYNTAX =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of a reference
  '${env:NAME}, ${file:/absolute/path} or ${credential:NAME}; $${ stands for the characters themselves';

/** Value of a reference, or the value that was expected. */
type LookUp = { readonly value: string } | { readonly expected: string };

function lookUp(content: string, context: RuntimeContext): LookUp {
  if (!WELL_FORMED.test(content)) return { expected: SYNTAX };
  const name = content.slice(content.indexOf(':') + 1);
  if (content.startsWith('file:')) return readSecretFile(name, context);
  if (content.startsWith('credential:')) return readCredential(name, context);
  const value = context.env[name];
  if (value === undefined) return { expected: `the environment variable ${name} to be set` };
  return value === '' ? { expected: `the environment variable ${name} not to be empty` } : { value };
}

/** Reads a credential that systemd passes by `LoadCredential`. Each unit has its own folder, so `file:` cannot name a fixed path. */
function readCredential(name: string, context: RuntimeContext): LookUp {
  const folder = context.env.CREDENTIALS_DIRECTORY;
  if (!folder?.startsWith('/')) {
    return { expected: `CREDENTIALS_DIRECTORY to be set, as systemd does for LoadCredential=${name}:…` };
  }
  return readSecretFile(`${folder}/${name}`, context);
}

/**
 * Editors and `echo` end files with a newline that is not part of the secret; exactly one is dropped. Other invisible
 * characters would make a secret that never matches, and are faults.
 */
function readSecretFile(path: string, context: RuntimeContext): LookUp {
  try {
    const value = context.readFile(path).replace(/\r?\n$/, '');
    if (value === '') return { expected: `the file ${path} not to be empty` };
    if (value.startsWith('\ufeff'))
      return { expected: `the file ${path} without the byte order mark at its beginning` };
    if (Buffer.byteLength(value) > MAX_SECRET_BYTES)
      return { expected: `the file ${path} to have at most ${MAX_SECRET_BYTES} bytes` };
    if (/[\r\n]/.test(value)) return { expected: `the file ${path} to hold one line` };
    return { value };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    return { expected: `the file ${path} to be readable (${code})` };
  }
}
