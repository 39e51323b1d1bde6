/** Actor of the command line in the ledger. */
export const CLI_ACTOR = 'command-line';
