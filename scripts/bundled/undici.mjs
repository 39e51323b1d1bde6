// What the program uses of undici, under undici's own names. Its index also loads fetch, WebSocket, caches and mocks, and with them
// Node's copy of all that. A name that is missing here fails the build.
import api from '../../node_modules/undici/lib/api/index.js';
import Dispatcher from '../../node_modules/undici/lib/dispatcher/dispatcher.js';

export { default as buildConnector } from '../../node_modules/undici/lib/core/connect.js';
export { default as Agent } from '../../node_modules/undici/lib/dispatcher/agent.js';
export { default as Client } from '../../node_modules/undici/lib/dispatcher/client.js';
export { default as Pool } from '../../node_modules/undici/lib/dispatcher/pool.js';

Object.assign(Dispatcher.prototype, api);
