import type { Command } from 'commander';
import { LINE_FILTERS, type LineFilter } from '../../../domain/line-filters.js';

/** Adds the options of filters by fields of ledger lines. */
export function withFilters(command: Command, names: readonly LineFilter[]): Command {
  for (const name of names) command.option(`--${name} <name>`, LINE_FILTERS[name].words);
  return command;
}
