import { Command, Option } from 'commander';
import { type Config, loadConfig } from '../config/config.js';
import {
  buildNotificationConfig,
  type NotificationRequest,
  notificationFaults,
} from '../speech/batch/notification-config.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printNotes } from './shared/format/print.js';
import { contextQuery } from './shared/options/context-query.js';
import { readPublicAddress } from './shared/options/public-address.js';
import { repeatable } from './shared/options/repeatable.js';
import { chosenSource, credentialHeaders, sourceNamed } from './shared/source-credential.js';

interface Options {
  readonly url?: string;
  readonly contents?: readonly string[];
  readonly context?: readonly string[];
  readonly credential?: string;
  readonly method?: 'POST' | 'PUT';
}

export function createCommand(): Command {
  return new Command('notification-config')
    .argument('[source]', 'name of the source; default: the only one, or default')
    .option('--url <address>', 'public address of the receiver; default: receiver.publicUrl')
    .option(
      '--contents <list>',
      "comma-separated contents; once per entry, default: the source's",
      repeatable,
    )
    .option(
      '--context <name=value>',
      "one of the source's context, for the callback URL; repeatable",
      repeatable,
    )
    .option(
      '--credential <name>',
      'credential to use; default: the valid one that expires last, among equals the last listed',
    )
    .addOption(new Option('--method <method>', 'method of the callback').choices(['POST', 'PUT']))
    .option('--json', 'accepted for consistency: the output is always JSON')
    .action((named: string | undefined, options: Options) => {
      const config = loadConfig('everything');
      const name = chosenSource(config, named);
      const now = Date.now();
      printJson({ notification_config: notificationConfig(config, name, options, now) });
      printNotes(...notesOn(sourceNamed(config, name), options, now));
    });
}

/** Notes on entries that the service accepts and that may not be intended. */
function notesOn(
  { context, credentials }: Config['sources'][string],
  options: Options,
  now: number,
): string[] {
  const { credential: wanted = '' } = options;
  const { notBefore, expires } = credentials[wanted] ?? {};
  const at = (time: number) => new Date(time).toISOString();
  return [
    ...(context.length > 0 && options.context === undefined
      ? [`the URL has no context; add --context <name>=<value> for ${context.join(', ')}`]
      : []),
    ...(expires && expires <= now
      ? [`the credential ${wanted} expired at ${at(expires)}: callbacks with it are rejected`]
      : []),
    ...(notBefore && notBefore > now
      ? [
          `the credential ${wanted} is not valid before ${at(notBefore)}: earlier callbacks with it are rejected`,
        ]
      : []),
  ];
}

function notificationConfig(config: Config, name: string, options: Options, now: number) {
  const source = sourceNamed(config, name);
  const headers = credentialHeaders(source, options.credential, now);
  const url =
    callbackUrl(options.url ?? config.receiver.publicUrl, name) +
    contextQuery(name, source.context, options.context);
  const contents = options.contents === undefined ? [source.contents] : options.contents.map(tokens);
  const entries = buildNotificationConfig(
    contents.map(
      (list): NotificationRequest => ({
        url,
        headers,
        contents: list,
        ...(options.method === undefined ? {} : { method: options.method }),
      }),
    ),
  );
  const faults = notificationFaults(entries);
  if (faults.length > 0) throw new UsageError(`the service would reject this:\n  ${faults.join('\n  ')}`);
  return entries;
}

function callbackUrl(base: string | null, source: string): string {
  if (base === null) throw new UsageError('pass --url <public address>, or set receiver.publicUrl');
  return `${readPublicAddress(base).href.replace(/\/+$/, '')}/callbacks/${source}`;
}

function tokens(list: string): string[] {
  return list
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');
}
