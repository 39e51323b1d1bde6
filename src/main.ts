#!/usr/bin/env node
import { constants } from 'node:os';
import { handleSignals } from './cli/shared/signal-handling.js';
import { unsupportedNode } from './cli/unsupported-node.js';

/* Imports little: an older Node cannot load the program, and signals have to be handled before it is loaded. */

const unsupported = unsupportedNode(process.version);
if (unsupported !== null) {
  process.stderr.write(`${unsupported}\n`);
  process.exit(2);
}
const args = process.argv.slice(2);
const [command = 'serve'] = args.filter((argument) => !argument.startsWith('-'));
// Loading the receiver takes a second. A signal that comes then finds nothing to drain.
if (command === 'serve') handleSignals(() => process.exit(0));
// A reader can end before the program does, as `head` does. The receiver and a recording go on; other commands end, and say so as after
// SIGPIPE.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    if (command !== 'serve' && command !== 'capture') process.exit(128 + constants.signals.SIGPIPE);
  });
}

const { runCommand } = await import('./cli/run-command.js');
await runCommand(args);
