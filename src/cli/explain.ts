import { isIP } from 'node:net';
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.js';
import { type Explanation, explain } from '../receive/access/explain.js';
import type { Source } from '../receive/access/sources.js';
import { createSources } from '../receive/access/sources.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { repeatable } from './shared/options/repeatable.js';
import { chosenSource } from './shared/source-credential.js';

interface Options {
  readonly address: string;
  readonly header?: readonly string[];
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('explain')
    .argument('[source]', 'name of the source; default: the only one, or default')
    .requiredOption(
      '--address <ip>',
      "address of the connection's other end: the sender, or the proxy in front",
    )
    .option('-H, --header <line>', 'header of the request, "<Name>: <value>"; repeatable', repeatable)
    .option('--json', 'print one JSON document')
    .action((source: string | undefined, options: Options) => {
      if (isIP(options.address) === 0)
        throw new UsageError(
          `--address expects an IP address such as 203.0.113.7, not ${JSON.stringify(options.address)}`,
        );
      const config = loadConfig('everything');
      const explanation = explain(compileSources(config), {
        source: chosenSource(config, source),
        peer: options.address,
        headers: readHeaders(options.header ?? []),
        now: Date.now(),
      });
      if (options.json) printJson(explanation);
      else printLines(formatExplanation(explanation));
    });
}

/** The sources, as the receiver builds them. */
function compileSources({ receiver, egress, sources }: Config): ReadonlyMap<string, Source> {
  return createSources(sources, egress.regions, receiver.trustedProxies);
}

function readHeaders(lines: readonly string[]): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) throw new UsageError('--header expects "<Name>: <value>"');
    const name = line.slice(0, colon).trim().toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1)]);
  }
  return Object.fromEntries(headers);
}

function formatExplanation(explanation: Explanation): string[] {
  const { decision, status, reason, clientIp, region, rule, credential, gates } = explanation;
  const isAccepted = decision === 'accept';
  return [
    isAccepted ? 'It would be accepted.' : `It would be rejected with ${status}.`,
    `  reason      ${reason}`,
    ...(clientIp === null
      ? []
      : [`  client      ${clientIp}`, `  region      ${region ?? 'none of the service'}`]),
    ...(isAccepted ? [`  rule        ${rule ?? 'none'}`, `  credential  ${credential ?? 'none'}`] : []),
    ...gates.flatMap(({ gate, passed, detail, toPass }) => [
      `${passed ? 'pass' : 'FAIL'}  ${gate}: ${detail}`,
      ...(toPass === null ? [] : [`      to pass: ${toPass}`]),
    ]),
  ];
}
