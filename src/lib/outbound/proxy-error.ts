/**
 * The proxy refused or did not open a connection. Nothing was sent to the destination. Messages name the proxy without its credentials.
 */
export class ProxyError extends Error {
  /** `PROXY_INVALID`: the variable does not name a proxy of HTTP. */
  readonly code: 'PROXY_REFUSED' | 'PROXY_UNREACHABLE' | 'PROXY_INVALID';

  constructor(code: ProxyError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProxyError';
    this.code = code;
  }
}
