import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { createService } from '../app/service/create-service.js';
import type { Listening, Service } from '../app/service/service.js';
import { type Config, loadConfig } from '../config/config.js';
import { cacheFolder, isDevelopment, isProduction } from '../config/load/environment.js';
import { secretValues } from '../config/load/secret-values.js';
import { warningsOfProcess } from '../config/rules/warnings.js';
import { RIGHTS } from '../domain/rights.js';
import { ListenError } from '../lib/http/listen.js';
import { createLogger, type Logger } from '../observe/logger.js';
import { StoreError } from '../store/object-store.js';
import { WeakStoreError } from '../store/probe/store-proof.js';
import { packageVersion } from './package-version.js';
import { dashboardLink, welcome } from './reports/welcome.js';
import { handleSignals } from './shared/signal-handling.js';

/** Name of the generated token in the ledger. */
const START_TOKEN = 'start-link';

type AdminTokens = Config['admin']['tokens'];

export function createCommand(): Command {
  return new Command('serve').action(serve);
}

/** Runs the receiver until a signal ends it. Exit code 0 after a clean drain, 1 when it cannot run. */
async function serve(): Promise<void> {
  const config = loadConfig('everything');
  const adminTokens = startTokens(config);
  const log = createLogger({
    level: config.log.level,
    ...(isDevelopment() && process.stdout.isTTY ? { format: await prettyFormat() } : {}),
    replica: config.replicaName,
    secrets: [...secretValues(config), ...Object.values(adminTokens).map(({ token }) => token)],
  });
  const service = await createService({
    config,
    log,
    version: packageVersion(),
    adminTokens,
    cacheFolder: cacheFolder(),
    onFatal,
  });
  stopOnSignal(service, log);
  process.on('unhandledRejection', (error) =>
    log.error({ event: 'unexpected', err: error }, 'unhandled rejection'),
  );
  try {
    const listening = await service.start();
    // Loading the program grows the young generation to its largest size; only this makes V8 return the 14 MB.
    globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
    announce(config, listening, adminTokens, log);
  } catch (error) {
    onFatal(error as Error);
  }

  function onFatal(error: Error): void {
    const isExplained = [ListenError, WeakStoreError, StoreError].some((kind) => error instanceof kind);
    log.fatal({ event: 'cannot-run', ...(isExplained ? {} : { err: error }) }, error.message);
    log.flush(() => process.exit(1));
  }
}

/** Generates a token when none is configured, so that the dashboard is never open to everyone who can reach the port. */
function startTokens({ admin }: Config): AdminTokens {
  if (Object.keys(admin.tokens).length > 0) return admin.tokens;
  return { [START_TOKEN]: { token: randomBytes(24).toString('base64url'), may: RIGHTS, sources: [] } };
}

function announce(config: Config, listening: Listening, tokens: AdminTokens, log: Logger): void {
  const { publicUrl: receiverUrl, adminUrl } = listening;
  const sources = Object.keys(config.sources);
  log.info(
    { event: 'listening', receiverUrl, adminUrl, sources, ready: listening.notReady === null },
    `listening on ${receiverUrl}, admin on ${adminUrl}`,
  );
  if (listening.notReady !== null) log.warn({ event: 'not-ready' }, `not ready yet: ${listening.notReady}`);
  for (const warning of warningsOfProcess(config)) log.warn({ event: 'configuration' }, warning);
  const startToken = tokens[START_TOKEN]?.token;
  if (isDevelopment()) {
    const callbackBase = config.receiver.publicUrl ?? receiverUrl;
    const text = welcome({ ...listening, callbackBase, sources: config.sources, startToken });
    // Log lines are written asynchronously: without the flush they would follow the text and scroll it away.
    log.flush(() => process.stdout.write(text));
  } else if (startToken !== undefined) {
    showLink(dashboardLink({ adminUrl, startToken }), log);
  }
}

/** Logs of containers are collected, so the link is printed only on a terminal and otherwise written to a file. */
function showLink(link: string, log: Logger): void {
  const made = 'no admin token is configured: one was generated for this start';
  if (process.stderr.isTTY || !isProduction()) {
    log.warn({ event: 'no-admin-token' }, made);
    process.stderr.write(`Dashboard, until the next start: ${link}\n`);
    return;
  }
  try {
    const { file, remove } = writeLinkFile(link);
    process.once('exit', remove);
    log.warn({ event: 'no-admin-token', file }, `${made}; a sign-in link is in ${file}`);
  } catch (error) {
    log.warn(
      { event: 'no-admin-token' },
      `${made}, and no file for the sign-in link can be written (${(error as NodeJS.ErrnoException).code}): set admin.tokens (TR_ADMIN_TOKEN)`,
    );
  }
}

/**
 * Writes the link into a file of mode 0600 in a new folder of mode 0700, to be removed with this process. Throws when nothing can be
 * written.
 */
function writeLinkFile(link: string) {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-receiver-'));
  const file = join(folder, 'dashboard-link');
  writeFileSync(file, `${link}\n`, { mode: 0o600, flag: 'wx' });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The first signal drains, the second ends at once; a second SIGHUP does not, because shell and terminal each send one. */
function stopOnSignal(service: Service, log: Logger): void {
  let stopping = false;
  handleSignals((signal) => {
    if (stopping) return signal === 'SIGHUP' ? undefined : log.flush(() => process.exit(1));
    stopping = true;
    // Keeps the process alive: the worker of the index and most timers do not.
    setInterval(() => {}, 1000);
    log.info({ event: 'draining', signal }, 'draining; a second signal ends at once');
    service.stop().then(
      () => {
        log.info({ event: 'stopped' }, 'stopped');
        log.flush(() => process.exit(0));
      },
      (error: unknown) => {
        log.error({ event: 'stop-failed', err: error }, 'could not stop cleanly');
        log.flush(() => process.exit(1));
      },
    );
  });
}

/** Loaded only for a terminal: production writes JSON. */
async function prettyFormat(): Promise<(line: string) => string> {
  return (await import('../observe/format-pretty.js')).formatPretty;
}
