import { z } from 'zod';
import { unwrap } from '../../../src/config/load/schema-faults.js';
import type { VariableNames } from '../../../src/config/load/variables.js';
import { configSchema } from '../../../src/config/schema.js';
import { type SettingMeta, settingMeta } from '../../../src/config/setting.js';

/** The reference of all settings as Markdown, in the order of the schema. */
export function configReference(variables: VariableNames): string {
  return [...sectionLines([], configSchema, variables)].join('\n');
}

/** A heading per section, a table of its own settings, then its sections. */
function* sectionLines(
  path: readonly string[],
  schema: unknown,
  variables: VariableNames,
): Generator<string> {
  const entries = Object.entries(shapeOf(schema));
  const rows = entries.filter(([, entry]) => !isGroup(entry));
  const description = settingMeta.get(schema as z.ZodType)?.description;
  if (rows.length > 0 || path.length === 1) {
    yield `\n## ${path.length === 0 ? 'Top' : `\`${path.join('.')}\``}`;
    if (description !== undefined) yield `\n${description}`;
  }
  if (rows.length > 0) {
    yield '\n| setting | meaning |\n|---|---|';
    for (const [name, entry] of rows) yield row([...path, name], entry, variables);
  }
  for (const [name, entry] of entries) {
    const below = [...path, name];
    if (!isGroup(entry)) yield* namedLines(below, entry, variables);
    else yield* sectionLines(below, entry, variables);
  }
}

/** The settings of each entry of a map whose names the operator chooses. */
function* namedLines(path: readonly string[], schema: unknown, variables: VariableNames): Generator<string> {
  const map = unwrap(schema);
  if (map instanceof z.ZodRecord && isGroup(map.valueType)) {
    yield* sectionLines([...path, '<name>'], map.valueType, variables);
  }
}

/** A setting with its default as YAML has it, and what it means. */
function row(path: readonly string[], schema: unknown, variables: VariableNames): string {
  const meta = settingMeta.get(schema as z.ZodType);
  const name = path.at(-1);
  const written = isSet(meta?.initial) ? `${name}: ${spelled(meta?.initial)}` : name;
  const meaning = `${typeInWords(meta)}${meta?.description}${variablesOf(path.join('.'), variables)}`;
  return `| \`${written}\` | ${escaped(meaning)} |`;
}

/** Types that a default shows. */
const EVIDENT = ['boolean', 'date', 'duration', 'host', 'level', 'number', 'path', 'port', 'size'];

function typeInWords({ type = '', initial }: Partial<SettingMeta> = {}): string {
  if (isSet(initial) ? EVIDENT.includes(type) : type === 'text' && initial === null) return '';
  return `*${type}${initial === undefined ? ', required' : ''}*: `;
}

/** Whether a default is more than not set, or empty. */
function isSet(initial: unknown): boolean {
  return initial !== undefined && !['', 'null', '[]', '{}'].includes(spelled(initial));
}

function spelled(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The variables of a setting, or of the entries of a map that is one setting. */
function variablesOf(path: string, variables: VariableNames): string {
  const names = [...variables].flatMap(([setting, name]) =>
    setting === path || setting.startsWith(`${path}.`) ? [`\`${name}\``] : [],
  );
  if (names.length === 0) return '';
  return ` ${names.join(', ')}.`;
}

/** `|` ends a cell, and `<` outside of code begins a tag. */
function escaped(text: string): string {
  const pieces = text.split('`');
  return pieces
    .map((piece, index) => (index % 2 === 0 ? piece.replaceAll('<', '&lt;') : piece))
    .join('`')
    .replaceAll('|', '\\|');
}

function isGroup(schema: unknown): boolean {
  return settingMeta.get(schema as z.ZodType)?.type === undefined && unwrap(schema) instanceof z.ZodObject;
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  const group = unwrap(schema);
  return group instanceof z.ZodObject ? group.shape : {};
}
