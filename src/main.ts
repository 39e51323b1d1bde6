#!/usr/bin/env node
import { handleSignals } from './cli/shared/signal-handling.js';
import { silenceLibraries } from './config/load/silence-libraries.js';

/* Imports little, because signals and warnings have to be taken care of before the program is loaded. */

const args = process.argv.slice(2);
const [command = 'serve'] = args.filter((argument) => !argument.startsWith('-'));
// Loading the receiver takes a second. A signal that comes then finds nothing to drain.
if (command === 'serve') handleSignals(() => process.exit(0));
silenceLibraries();

const { runCommand } = await import('./cli/run-command.js');
await runCommand(args);
