import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ListenOptions {
  /** Empty: every address of both families, or of IPv4 on a machine without IPv6. */
  readonly host: string;
  readonly port: number;
  /** Section of the configuration that these come from, and the variable that sets the port. */
  readonly section: 'receiver' | 'admin';
  readonly variable: string;
}

/**
 * Connections that the operating system completes before the process accepts them; Linux lowers it to `net.core.somaxconn`. When as
 * many wait, a sender's connection attempt is lost, and repeated after 1, 3 and 7 s. Node's default is 511.
 */
const BACKLOG = 4096;

/** A port cannot be opened. The message names the setting to change. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Opens the port; resolves with its address as a URL for a browser. */
export function listen(server: Server, options: ListenOptions): Promise<string> {
  const { host, port } = options;
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(explain(error, options));
    server.once('error', onError);
    server.listen({ port, backlog: BACKLOG, ...(host === '' ? {} : { host }) }, () => {
      server.off('error', onError);
      const { port: actual } = server.address() as AddressInfo;
      resolve(`http://${nameOf(host)}:${actual}`);
    });
  });
}

/** The host of a URL that reaches a server on this address from the same machine. */
function nameOf(host: string): string {
  if (EVERY_ADDRESS.includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

const EVERY_ADDRESS = ['', '0.0.0.0', '::'];

function explain(error: NodeJS.ErrnoException, options: ListenOptions): ListenError {
  const { port, section, variable } = options;
  const host = options.host || 'every address';
  const portSetting = `${section}.port (${variable})`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError(
        `port ${port} on ${host} is in use by another process: stop that one or change ${portSetting}`,
        { cause: error },
      );
    case 'EACCES':
      return new ListenError(`this user may not listen on port ${port}: change ${portSetting}`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenError(`${host} is not an address of this machine: change ${section}.host`, {
        cause: error,
      });
    default:
      return new ListenError(
        `cannot listen on ${host}, port ${port} (${error.code ?? error.message}): change ${section}.host or ${portSetting}`,
        { cause: error },
      );
  }
}
