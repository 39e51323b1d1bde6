/** Milliseconds before the end of a credential at which to warn: rotation needs people. */
export const CREDENTIAL_NOTICE = 14 * 24 * 3_600_000;
