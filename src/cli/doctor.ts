import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { ConfigError, type ConfigFault, renderFault } from '../config/config-error.js';
import { type Finding, failed, skipped } from './doctor/finding.js';
import { formatFindings, worstOf } from './doctor/format-findings.js';
import { type DoctorOptions, runChecks } from './doctor/run-checks.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { readPublicAddress } from './shared/options/public-address.js';

interface Options extends DoctorOptions {
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('doctor')
    .option(
      '--url <address>',
      'public address: sends test callbacks to it, as the service would',
      readPublicAddress,
    )
    .option('--source <name>', 'source of the test callbacks; default: the only one, or default')
    .option(
      '--credential <name>',
      'credential of the test callbacks; default: the valid one that expires last',
    )
    .option('--json', 'print one JSON document')
    .action(async (options: Options) => {
      checkOptions(options);
      const { code, findings } = await findingsOrFaults(options);
      const verdict = worstOf(findings);
      if (options.json) printJson({ verdict, findings });
      else printLines(formatFindings(findings));
      process.exitCode = code ?? (verdict === 'failed' ? EXIT.failed : EXIT.ok);
    });
}

/** Rejects options that would be ignored without --url. */
function checkOptions({ url, source, credential }: Options): void {
  if (url !== undefined || (source === undefined && credential === undefined)) return;
  throw new UsageError('--source and --credential need --url <public address>');
}

/** Faults in the configuration prevent all other checks and have an exit code of their own. */
async function findingsOrFaults(options: Options): Promise<{ code?: number; findings: Finding[] }> {
  try {
    return { findings: await runChecks(loadConfig('everything'), options) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { code: EXIT.usage, findings: [...error.faults.map(faultFinding), NOT_CHECKED] };
  }
}

const NOT_CHECKED = skipped(
  'store, service and subscribers',
  'Not checked, because the configuration has faults.',
);

function faultFinding(fault: ConfigFault): Finding {
  return failed(
    'configuration',
    renderFault(fault).replace(/[^.?]$/, '$&.'),
    'Correct it; docs/configuration.md describes every setting.',
  );
}
