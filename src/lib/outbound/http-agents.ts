import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';

/** For libraries that take an agent of Node instead of undici's. */
export interface HttpAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Agents whose connections are opened by `connect`. */
export function httpAgents(connect: buildConnector.connector, options: AgentOptions): HttpAgents {
  const opening = (protocol: string) => ({
    createConnection: (target: ConnectionTarget, done: Done) => open(connect, protocol, target, done),
  });
  return {
    http: Object.assign(new HttpAgent(options), opening('http:')),
    https: Object.assign(new HttpsAgent(options), opening('https:')),
  };
}

interface ConnectionTarget {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
  readonly servername?: string | undefined;
}

type Done = (error: Error | null, socket: Duplex) => void;

function open(
  connect: buildConnector.connector,
  protocol: string,
  { host, port, servername }: ConnectionTarget,
  done: Done,
): null {
  const place = { hostname: host ?? '', host: `${host}:${port}`, protocol, port: `${port}` };
  connect(
    servername === undefined ? place : { ...place, servername },
    (...[error, socket]: Parameters<buildConnector.Callback>) => done(error, socket as Socket),
  );
  return null;
}
