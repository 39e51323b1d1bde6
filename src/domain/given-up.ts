/** An entry of a job's `errors`. */
interface JobError {
  readonly message: string;
}

const ANSWER = /response status: (\d{3})/i;

/** The status of the last answer that the service records of a job's callbacks; null when none was answered. */
export function lastAnswer(errors: readonly JobError[]): number | null {
  const answer = errors.map(({ message }) => ANSWER.exec(message)?.[1]).findLast((found) => found);
  return answer === undefined ? null : Number(answer);
}

const CAUSES: Readonly<Record<number, string>> = {
  401: 'no credential of the source matches its auth_headers. Compare them with what notification-config prints',
  403: 'the address is not admitted by allow of the source. See Refusals',
  404: 'nothing is at its callback URL. Compare it with what notification-config prints',
  413: 'the body was too large for the source, or for a proxy in front',
};

/** Why the service gave up the callbacks of a job, from its `errors`. */
export function gaveUpInWords(errors: readonly JobError[]): string {
  const answer = lastAnswer(errors);
  if (answer === null) return 'The service gave up sending the callback: nothing answered at its URL.';
  const cause = CAUSES[answer] ?? 'the receiver, or a proxy in front, could not take it';
  return `The service gave up sending the callback, which was answered ${answer}: ${cause}.`;
}
