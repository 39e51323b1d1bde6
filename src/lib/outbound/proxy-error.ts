/**
 * A connection that the proxy in between does not allow. Nothing was sent to the other side. Messages name the proxy without its
 * credentials.
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
