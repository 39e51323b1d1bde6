import { parseHeaderLine, secretPart } from '../../lib/text/header-line.js';
import type { Config } from '../config.js';

/** Characters. A shorter path is an ordinary word such as `/webhook`, which appears in other messages. */
const SHORTEST_ADDRESS_SECRET = 16;

/** Every secret text of the configuration, for the log's scrubber. */
export function secretValues(config: Config): string[] {
  const credentials = Object.values(config.sources).flatMap((source) => Object.values(source.credentials));
  const headers = credentials.flatMap((credential) => credential.headers).map(headerSecret);
  const { s3 } = config.store;
  const values = [
    ...Object.values(config.admin.tokens).map(({ token }) => token),
    ...headers,
    s3.secretAccessKey,
    config.speech.apiKey,
    ...Object.values(config.subscribers).flatMap(({ url, secrets }) => [
      ...secretsOfAddress(url),
      ...secrets,
    ]),
  ];
  return [...new Set(values.filter((value) => value !== null))];
}

/** A long path or query can be a token, as Slack's is. */
function secretsOfAddress(url: string): string[] {
  const { pathname, search } = new URL(url);
  return [pathname, search].filter((text) => text.length >= SHORTEST_ADDRESS_SECRET);
}

function headerSecret(line: string): string | null {
  const parsed = parseHeaderLine(line);
  return 'fault' in parsed ? null : secretPart(parsed);
}
