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
    'transcript-receiver reconcile --region eu1 --json',
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
    'transcript-receiver verify --since 24h --deep --max-rate 50MiB',
  ],
  quarantine: ['transcript-receiver quarantine', 'transcript-receiver quarantine --state all --json'],
  subscribers: ['transcript-receiver subscribers', 'transcript-receiver subscribers crm --json'],
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

const CONFIGURATION = `Configuration comes from ./config, or from the folder that NODE_CONFIG_DIR names, and from the environment
(TR_* variables, NODE_CONFIG as JSON); check-config lists its faults.`;

/** Adds examples and the sources of the configuration to the help of a command, and omits empty defaults. */
export function completeHelp(command: Command): Command {
  const examples = EXAMPLES[command.name()] ?? [];
  const lines = examples.map((example) => `  ${example}`).join('\n');
  return command
    .configureHelp({ optionDescription })
    .addHelpText('after', `${lines === '' ? '' : `\nExamples:\n${lines}\n`}\n${CONFIGURATION}`);
}

/** Omits empty defaults. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ ?\(default: (\[\]|\{\}|false)\)$/, '');
}
