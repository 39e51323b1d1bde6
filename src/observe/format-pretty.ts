import { prettyFactory } from 'pino-pretty';

/** Formats a line of the log for a person at a terminal. */
export const formatPretty: (line: string) => string = prettyFactory({
  colorize: true,
  ignore: 'replica',
  translateTime: 'HH:MM:ss.l',
});
