// Loaded by the dashboard as well: whatever this module imports must run in a browser.

/** An attempt to send an event, as people read it: "Answered 503: “busy”", "No answer: timeout". */
export function describeAttempt({
  status,
  error,
  answer,
}: {
  readonly status: number | null;
  readonly error: string | null;
  readonly answer?: string | undefined;
}): string {
  if (status === null) return `No answer: ${error ?? 'unknown'}`;
  return answer === undefined ? `Answered ${status}` : `Answered ${status}: “${answer}”`;
}

/** The same of a cause, whose code is a status or the code of what failed. */
export function describeLastAttempt(code: string, answer: string | null): string {
  const isStatus = /^\d+$/.test(code);
  return describeAttempt({
    status: isStatus ? Number(code) : null,
    error: isStatus ? null : code,
    answer: answer ?? undefined,
  });
}
