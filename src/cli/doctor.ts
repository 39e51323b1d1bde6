import { Command } from 'commander';
import { speechOptions } from '../app/speech-options.js';
import { storeOptions } from '../app/store-options.js';
import { type Config, loadConfig } from '../config/config.js';
import { ConfigError, type ConfigFault, renderFault } from '../config/config-error.js';
import { warningsOfProcess } from '../config/warnings.js';
import { checkEgress } from '../doctor/check-egress.js';
import { checkPublic } from '../doctor/check-public.js';
import { checkService } from '../doctor/check-service.js';
import { checkStore } from '../doctor/check-store.js';
import { errorText, type Finding, failed, ok, type Verdict, warning } from '../doctor/finding.js';
import { createSpeechClients } from '../speech/speech.js';
import { openStore } from '../store/open-store.js';
import { inspectBucket } from '../store/s3/inspect-bucket.js';
import { readStoreLocation } from '../text/store-location.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/print.js';
import { readPublicAddress } from './shared/public-address.js';
import { credentialHeaders, sourceNamed } from './shared/source-credential.js';

interface Options {
  readonly url?: URL;
  readonly source?: string;
  readonly credential?: string;
  readonly json?: true;
}

/** Milliseconds that the public address has for an answer. */
const PUBLIC_TIMEOUT = 10_000;

export function createCommand(): Command {
  return new Command('doctor')
    .description('check configuration, store, service and public address, and say what to do')
    .option(
      '--url <address>',
      'public address: sends marked callbacks through it, as the service would',
      readPublicAddress,
    )
    .option('--source <name>', 'source they are sent to; default: the only one, or default')
    .option('--credential <name>', 'credential they carry; default: the valid one that lasts longest')
    .option('--json', 'print one JSON document')
    .action(async (options: Options) => {
      refuseUseless(options);
      const { code, findings } = await examine(options);
      const verdict = worst(findings);
      if (options.json) printJson({ verdict, findings });
      else printLines([...findings.flatMap(inWords), conclusion(findings)]);
      process.exitCode = code ?? (verdict === 'failed' ? EXIT.failed : EXIT.ok);
    });
}

/** Both are about what is sent through the public address: nobody would notice that they were not looked at. */
function refuseUseless({ url, source, credential }: Options): void {
  if (url !== undefined || (source === undefined && credential === undefined)) return;
  throw new UsageError('--source and --credential need --url <public address>');
}

/** Without a configuration nothing else can be looked at: that has an exit code of its own. */
async function examine(options: Options): Promise<{ code?: number; findings: Finding[] }> {
  try {
    return { findings: await examineAll(loadConfig(), options) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { code: EXIT.usage, findings: error.faults.map(faultFinding) };
  }
}

function faultFinding(fault: ConfigFault): Finding {
  return failed(
    'configuration',
    renderFault(fault).replace(/[^.?]$/, '$&.'),
    'Correct it; docs/configuration.md describes every setting.',
  );
}

async function examineAll(config: Config, options: Options): Promise<Finding[]> {
  const target = options.url === undefined ? null : publicTarget(config, options);
  const here = [...configuration(config), egress(config)];
  const store = await openStore(storeOptions(config)).catch(errorText);
  if (typeof store === 'string')
    return [...here, failed('store', store, 'Correct the settings below store.')];
  try {
    const [stored, service, outside] = await Promise.all([
      checkStore({
        store,
        acceptWeak: config.store.s3.conditionalWrites === 'emulated',
        inspect: bucket(config),
      }),
      askService(config),
      target === null ? [] : checkPublic({ ...target, store, timeout: PUBLIC_TIMEOUT }),
    ]);
    return [...here, ...stored, ...service, ...outside];
  } finally {
    await store.close();
  }
}

function configuration(config: Config): Finding[] {
  const warnings = warningsOfProcess(config);
  if (warnings.length === 0) return [ok('configuration', 'It is valid, and nothing in it stands out.')];
  return warnings.map((text) => warning('configuration', `${text}.`, 'See docs/security.md.'));
}

function egress({ egress: table, sources }: Config): Finding {
  return checkEgress({
    takenOn: table.takenOn,
    regions: Object.keys(table.regions),
    allow: Object.values(sources).flatMap(({ allow }) => allow),
    now: Date.now(),
  });
}

function bucket(config: Config): (() => ReturnType<typeof inspectBucket>) | null {
  const { url, s3 } = storeOptions(config);
  const place = readStoreLocation(url);
  return 'bucket' in place ? () => inspectBucket({ ...place, settings: s3 ?? {} }) : null;
}

/** Milliseconds that the service may ask to wait. */
const LONGEST_PAUSE = 2_000;

async function askService(config: Config): Promise<Finding[]> {
  // Who waits at a terminal is better served by a quick no.
  const speech = createSpeechClients({
    ...speechOptions(config),
    retries: 1,
    retry: { maxPauseMs: LONGEST_PAUSE },
  });
  try {
    return await checkService({ speech, hasKey: config.speech.apiKey !== null });
  } finally {
    await speech.close();
  }
}

function publicTarget(config: Config, options: Options) {
  const names = Object.keys(config.sources);
  const name = options.source ?? (names.length === 1 ? names[0] : undefined) ?? 'default';
  const source = sourceNamed(config, name);
  return {
    url: options.url as URL,
    source: name,
    credential: credentialHeaders(source, options.credential, Date.now()),
    maxBytes: source.maxBytes,
  };
}

const WORST_FIRST: readonly Verdict[] = ['failed', 'warning', 'ok'];

function worst(findings: readonly Finding[]): Verdict {
  return WORST_FIRST.find((verdict) => findings.some((finding) => finding.verdict === verdict)) ?? 'ok';
}

function inWords({ check, verdict, message, advice }: Finding): string[] {
  const line = `${verdict.padEnd(7)}  ${check}: ${message}`;
  return advice === null ? [line] : [line, `         -> ${advice}`];
}

function conclusion(findings: readonly Finding[]): string {
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  return `${count('failed')} failed, ${count('warning')} warnings, ${count('ok')} ok, ${count('skipped')} skipped.`;
}
