#!/usr/bin/env node
import { constants } from 'node:os';
import { handleSignals } from './cli/shared/signal-handling.js';
import { unsupportedNode } from './cli/unsupported-node.js';

/* Imports little, because an older Node cannot load the program, and signals must be handled before it is loaded. */

const unsupported = unsupportedNode(process.version);
if (unsupported !== null) {
  process.stderr.write(`${unsupported}\n`);
  process.exit(2);
}
const args = process.argv.slice(2);
const [command = 'serve'] = args.filter((argument) => !argument.startsWith('-'));
// Loading the receiver takes a second. On a signal in that time there is nothing to drain.
if (command === 'serve') handleSignals(() => process.exit(0));
// A reader such as `head` can close the pipe early. The receiver and a capture continue; other commands end with the exit code of SIGPIPE.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    if (command !== 'serve' && command !== 'capture') process.exit(128 + constants.signals.SIGPIPE);
  });
}

const { runCommand } = await import('./cli/run-command.js');
await runCommand(args);
