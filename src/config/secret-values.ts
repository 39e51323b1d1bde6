import { parseHeaderLine, secretPart } from '../text/header-line.js';
import type { Config } from './config.js';

/** Every secret text of the configuration, for the log's scrubber. */
export function secretValues(config: Config): string[] {
  const credentials = Object.values(config.sources).flatMap((source) => Object.values(source.credentials));
  const headers = credentials.flatMap((credential) => credential.headers).map(headerSecret);
  const { s3 } = config.store;
  const values = [
    ...Object.values(config.admin.tokens),
    ...headers,
    s3.secretAccessKey,
    s3.sessionToken,
    config.speech.apiKey,
  ];
  return [...new Set(values.filter((value) => value !== null))];
}

function headerSecret(line: string): string | null {
  const parsed = parseHeaderLine(line);
  return 'fault' in parsed ? null : secretPart(parsed);
}
