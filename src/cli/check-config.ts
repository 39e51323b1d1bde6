import { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.js';
import { ConfigError, renderPath } from '../config/config-error.js';
import { warningsOfProcess } from '../config/rules/warnings.js';
import { plural } from '../lib/text/plural.js';
import { EXIT } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';

export function createCommand(): Command {
  return new Command('check-config')
    .option('--json', 'print one JSON document')
    .action(({ json }: { json?: true }) => checkConfig(json === true));
}

function checkConfig(json: boolean): void {
  try {
    const config = loadConfig('everything');
    const warnings = warningsOfProcess(config);
    if (json) printJson({ valid: true, faults: [], warnings });
    else printLines([...summary(config), ...warnings.map((warning) => `warning: ${warning}`)]);
  } catch (error) {
    if (!(error instanceof ConfigError) || !json) throw error;
    const faults = error.faults.map((fault) => ({ ...fault, path: renderPath(fault.path) }));
    printJson({ valid: false, faults, warnings: [] });
    process.exitCode = EXIT.usage;
  }
}

function summary(config: Config): string[] {
  const sources = Object.entries(config.sources).map(([name, source]) => {
    const credentials = Object.keys(source.credentials).join(', ') || 'none';
    const report = source.allowMode === 'report' ? ' (report only)' : '';
    return `  /callbacks/${name}: credentials ${credentials}; allow ${source.allow.join(', ') || 'none'}${report}`;
  });
  const subscribers = Object.entries(config.subscribers).map(
    ([name, { secrets }]) => `  subscriber ${name}: ${plural(secrets.length, 'secret')}`,
  );
  return [
    'The configuration is valid.',
    `  callbacks on ${portOf(config.receiver)}, admin on ${portOf(config.admin)}`,
    `  admin tokens: ${Object.keys(config.admin.tokens).join(', ') || 'none'}`,
    `  store ${config.store.url}`,
    ...sources,
    ...subscribers,
  ];
}

function portOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host || 'every address,'} port ${port}`;
}
