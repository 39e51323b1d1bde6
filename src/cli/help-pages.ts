import { type Command, Help, type Option } from 'commander';

/** Common calls; a test checks their commands and options. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  serve: [
    'transcript-receiver',
    'NODE_ENV=production NODE_CONFIG_DIR=/etc/transcript-receiver transcript-receiver serve',
  ],
  reconcile: [
    'transcript-receiver reconcile',
    'transcript-receiver reconcile --since 7d --dry-run',
    'transcript-receiver reconcile --json',
  ],
  refetch: ['transcript-receiver refetch 650krlru2e', 'transcript-receiver refetch 650krlru2e --again'],
  merge: ['transcript-receiver merge', 'transcript-receiver merge --since 7d --json'],
  status: ['transcript-receiver status', 'transcript-receiver status --json | jq .verdict.issues'],
  job: ['transcript-receiver job 650krlru2e', 'transcript-receiver job 650krlru2e --json | jq .state'],
  transcript: [
    'transcript-receiver transcript 650krlru2e',
    'transcript-receiver transcript 650krlru2e --kind json-v2 --output 650krlru2e.json',
  ],
  deliveries: [
    'transcript-receiver deliveries --since 1h --outcome refused',
    'transcript-receiver deliveries --context customer=acme --since 7d --csv > acme.csv',
    'transcript-receiver deliveries --actor anna --since 7d',
  ],
  summary: [
    'transcript-receiver summary --since 2026-03-03T14:00:00Z --until 2026-03-03T15:00:00Z --by cause',
    'transcript-receiver summary --since 24h --by hour --source intake',
    'transcript-receiver summary --since 7d --by context.customer --csv > customers.csv',
  ],
  failures: [
    'transcript-receiver failures --since 24h',
    'transcript-receiver failures --outcome failed --json | jq -r ".failures[].jobId"',
  ],
  replay: [
    'transcript-receiver replay refetch --outcome noted --since 48h --dry-run',
    'transcript-receiver replay release --source intake --reason "decoder fixed"',
    'transcript-receiver replay notify --subscriber crm --dead --job 650krlru2e',
  ],
  verify: [
    'transcript-receiver verify',
    'transcript-receiver verify --since 2026-03-01T00:00:00Z --until 2026-04-01T00:00:00Z --json',
    'transcript-receiver verify --since 24h --deep',
  ],
  quarantine: ['transcript-receiver quarantine', 'transcript-receiver quarantine --state all --json'],
  dismiss: ['transcript-receiver dismiss 01KJX3VZ8Q4M7T9B0C2D5E6F7G --reason "a test call"'],
  acknowledge: ['transcript-receiver acknowledge 650krlru2e --reason "the customer has it already"'],
  choose: [
    'transcript-receiver choose 650krlru2e jobs/650krlru2e/conflicts/transcript.json.9f86d0… --reason "the second run is right"',
  ],
  import: ['transcript-receiver import 650krlru2e transcript.json --reason "from the customer"'],
  'copy-store': [
    'transcript-receiver copy-store file:./data s3://example-transcripts/production',
    'transcript-receiver copy-store s3://old-bucket s3://new-bucket --from-config ./old-config --deep',
  ],
  erase: ['transcript-receiver erase 650krlru2e --reason "asked to be forgotten"'],
  'check-config': ['NODE_CONFIG_DIR=/etc/transcript-receiver transcript-receiver check-config'],
  doctor: ['transcript-receiver doctor', 'transcript-receiver doctor --url https://transcripts.example.com'],
  explain: [
    'transcript-receiver explain intake --address 40.74.41.91 -H "X-Callback-Token: …"',
    'transcript-receiver explain intake --address 10.0.0.1 -H "X-Forwarded-For: 40.74.41.91" --json',
  ],
  reasons: ['transcript-receiver reasons', 'transcript-receiver reasons store-full write-race'],
  'notification-config': [
    'transcript-receiver notification-config intake --contents transcript,jobinfo',
    'transcript-receiver notification-config intake --context call=7f3a',
  ],
  capture: ['transcript-receiver capture interview.mp3 --language en'],
  simulate: [
    'transcript-receiver simulate --callback http://127.0.0.1:8080/callbacks/default --jobs 10',
    'transcript-receiver simulate --callback http://127.0.0.1:8080/callbacks/default --fault drop=0.3',
  ],
};

/** Further exit codes of each command, besides done, failed and wrong usage. */
const EXIT_CODES: Readonly<Record<string, readonly string[]>> = {
  reconcile: ['3  jobs that can never be recovered', '4  jobs failed, or a region could not be listed'],
  refetch: ['3  the job can never be recovered', '4  the job failed, or its region could not be asked'],
  replay: ['4  an item failed, or the replay was interrupted'],
  verify: ['3  something is missing or damaged', '4  not everything could be checked'],
  merge: [
    '1  nothing to merge',
    '3  an hour failed, something is lost or damaged, or interrupted',
    '4  the store could not be read',
  ],
  status: [
    '0  all is well',
    '1  a warning, or not everything could be checked',
    '2  a failure that needs action now',
  ],
  job: [
    '0  nothing has to be done',
    '1  nothing is stored or known of the job',
    '2  an operator has to act; the steps are printed',
  ],
  transcript: [
    '1  there is no such transcript',
    '3  the bytes are truncated or differ from the recorded hash',
    '4  the store could not be read',
  ],
  deliveries: ['4  the index lacks lines that were asked for, or an export has not all that match'],
  summary: [
    '1  nothing was found',
    '3  not everything could be counted; the gaps are named',
    '4  the store could not be read',
  ],
  acknowledge: ['2  the ledger has no line of the job'],
  choose: ['2  no such key, or another operator is choosing'],
  import: ['4  the bytes became a conflict'],
  'copy-store': [
    '1  <from> holds nothing',
    '3  not all is there (each object is named), or interrupted',
    '4  a store could not be read or written',
  ],
  erase: ['4  something was not removed, or the ledger not read'],
  explain: ['0  also for a callback that would be rejected'],
  'notification-config': ['2  the service would reject it'],
  capture: ['4  archived, but incomplete'],
};

const COMMON_EXIT_CODES = [
  '0  done',
  '1  the operation failed',
  '2  wrong usage, or faults in the configuration',
];

const CONFIGURATION = `Configuration comes from ./config, or from the folder that NODE_CONFIG_DIR names, and from the environment
(TR_* variables, NODE_CONFIG as JSON); check-config lists its faults.`;

/** Adds examples and the sources of the configuration to the help of a command, and omits empty defaults. */
export function completeHelp(command: Command): Command {
  const examples = EXAMPLES[command.name()] ?? [];
  const shown = examples.length === 0 ? '' : `\nExamples:\n${indented(examples)}\n`;
  return command
    .configureHelp({ optionDescription })
    .addHelpText(
      'after',
      `${shown}\nExit codes:\n${indented(exitCodesOf(command.name()))}\n\n${CONFIGURATION}`,
    );
}

/** The common exit codes, overridden and extended by those of the command. */
function exitCodesOf(name: string): string[] {
  const own = EXIT_CODES[name] ?? [];
  const common = COMMON_EXIT_CODES.filter((line) => !own.some((each) => each[0] === line[0]));
  return [...common, ...own].sort();
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`).join('\n');

/** Omits empty defaults. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ ?\(default: (\[\]|\{\}|false)\)$/, '');
}
