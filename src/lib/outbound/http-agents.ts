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
  return { http: new OutboundHttpAgent(connect, options), https: new OutboundHttpsAgent(connect, options) };
}

interface ConnectionTarget {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
  readonly servername?: string | undefined;
}

type Done = (error: Error | null, socket: Duplex) => void;

class OutboundHttpAgent extends HttpAgent {
  readonly #connect: buildConnector.connector;

  constructor(connect: buildConnector.connector, options: AgentOptions) {
    super(options);
    this.#connect = connect;
  }

  override createConnection(target: ConnectionTarget, done: Done): null {
    return open(this.#connect, 'http:', target, done);
  }
}

class OutboundHttpsAgent extends HttpsAgent {
  readonly #connect: buildConnector.connector;

  constructor(connect: buildConnector.connector, options: AgentOptions) {
    super(options);
    this.#connect = connect;
  }

  override createConnection(target: ConnectionTarget, done: Done): null {
    return open(this.#connect, 'https:', target, done);
  }
}

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
