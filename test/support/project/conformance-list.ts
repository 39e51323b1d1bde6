import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TEST = fileURLToPath(new URL('../..', import.meta.url));

/** In the order of the service's specification. */
const SECTIONS = [
  ...['Temporary keys', 'Authentication', 'Hosts', 'Jobs API', 'Job record', 'Notification configuration'],
  ...['Callback request', 'Body rules', 'Delivery', 'HTTP errors', 'Limits', 'Versions'],
  ...[
    ...['Protocol objects', 'AudioType', 'TranscriptionConfig', 'AdditionalWord', 'PunctuationOverrides'],
    ...['Transcript message body', 'Session', 'Regional hosts and WebSocket connections'],
    ...['Client-to-server messages', 'Authentication', 'Server-to-client messages', 'Errors', 'Limits'],
    'Beyond the specification',
  ].map((section) => `Realtime: ${section}`),
  ...['Contradictions', 'Silences'],
];

export interface Rule {
  readonly section: string;
  readonly text: string;
  /** Test files that check it, below `test/`. */
  readonly files: readonly string[];
}

/** Every rule that a comment `// Rule: <section>: <text>` above a test names. Throws for an unknown section. */
export function conformanceRules(): Rule[] {
  const rules = new Map<string, { section: string; text: string; files: Set<string> }>();
  for (const file of readdirSync(TEST, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.test.ts')) continue;
    for (const [, rule = ''] of readFileSync(join(TEST, file), 'utf8').matchAll(/^ *\/\/ Rule: (.*)$/gm)) {
      const section = SECTIONS.find((each) => rule.startsWith(`${each}: `));
      if (section === undefined) throw new Error(`${file}: no section of the specification: ${rule}`);
      const entry = rules.get(rule) ?? { section, text: rule.slice(section.length + 2), files: new Set() };
      rules.set(rule, entry);
      entry.files.add(file);
    }
  }
  return [...rules.values()].map((rule) => ({ ...rule, files: [...rule.files] }));
}

/** The rules by section, each group with the test files that check it. */
export function conformanceList(): string {
  const rules = conformanceRules();
  return SECTIONS.map((section) => {
    const groups = new Map<string, string[]>();
    for (const { files, text } of rules.filter((rule) => rule.section === section)) {
      const names = files.map((file) => `test/${file}`).join(', ');
      groups.set(names, [...(groups.get(names) ?? []), text]);
    }
    const rows = [...groups].map(([names, texts]) => `- ${texts.sort().join('\n  ')} (${names})`);
    return `\n## ${section}\n\n${rows.sort().join('\n')}\n`;
  }).join('');
}
