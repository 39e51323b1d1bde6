import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { chown, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMetrics } from '../../src/observe/metrics/metrics.js';
import { freePort } from '../support/http/free-port.js';
import { inProject, pick, readManifest, readProjectFile, renderOverlay } from '../support/manifests.js';
import { buildImage, type Container, type Image, startContainer } from '../support/processes/container.js';
import { until } from '../support/until.js';

/*
 * The image as the single-node overlay runs it: built from the Dockerfile, root file system read-only, the image's
 * own user, the overlay's configuration and the example secrets mounted, asked by the overlay's probes.
 */

const scratch = mkdtempSync(path.join(os.tmpdir(), 'image-'));
const overlay = renderOverlay('single-node');
const pod = pick(overlay, 'Deployment').spec.template.spec.containers[0];
const secrets: Record<string, string> = readManifest('k8s/secret.example.yaml').stringData;
const ports = { public: 0, admin: 0 };
const transcript = JSON.stringify({ format: '2.9', job: { id: 'image1' }, metadata: {}, results: [] });

let image: Image;
let container: Container;

beforeAll(async () => {
  image = buildImage(inProject('test/platform/build-image.sh'), path.join(scratch, 'image'));
  ports.public = await freePort();
  ports.admin = await freePort();
  const data = folderOf('data', {});
  await chown(data, 10_001, 10_001);
  container = await startContainer(image, {
    volumes: {
      '/data': data,
      '/etc/transcript-receiver': folderOf('config', pick(overlay, 'ConfigMap').data),
      '/run/secrets/transcript-receiver': folderOf('secrets', secrets),
    },
    env: {
      ...Object.fromEntries(pod.env.map(({ name, value }: Record<string, string>) => [name, value])),
      TR_PORT: String(ports.public),
      TR_ADMIN_PORT: String(ports.admin),
      TR_ALLOW: '127.0.0.0/8',
    },
    args: pod.args,
  });
  await until(async () => (await probe('readinessProbe')) === 200 || ended());
  if (ended()) throw new Error(container.output());
}, 600_000);

afterAll(async () => {
  if (container && !ended()) process.kill(container.pid, 'SIGKILL');
  await container?.ended;
  rmSync(scratch, { recursive: true, force: true });
});

function folderOf(name: string, files: Record<string, string>): string {
  const folder = path.join(scratch, name);
  mkdirSync(folder);
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(folder, file), content);
  return folder;
}

/** Starts services of docker-compose.yml as they stand there, with other names and ports: there is one network here. */
async function startComposed() {
  const { receiver, simulator } = readManifest('docker-compose.yml').services;
  const callbacks = await freePort();
  const admin = await freePort();
  const service = await freePort();
  const here = (text: string) =>
    text
      .replace('receiver:8080', `127.0.0.1:${callbacks}`)
      .replace('simulator:9100', `127.0.0.1:${service}`)
      .replace('eu1=9100', `eu1=${service}`);
  const data = folderOf('composed', {});
  await chown(data, 10_001, 10_001);
  const environment = Object.entries<string>(receiver.environment).map(([name, value]) => [
    name,
    here(value),
  ]);
  const started = [
    await startContainer(image, {
      volumes: { '/data': data },
      tmpfs: receiver.tmpfs,
      env: { ...Object.fromEntries(environment), TR_PORT: String(callbacks), TR_ADMIN_PORT: String(admin) },
    }),
  ];
  await until(
    async () => (await fetch(`http://127.0.0.1:${callbacks}/readyz`).catch(() => null))?.ok === true,
  );
  started.push(
    await startContainer(image, {
      volumes: {},
      tmpfs: simulator.tmpfs,
      env: {},
      args: simulator.command.map(here),
    }),
  );
  return {
    data,
    isRunning: () => started.every(({ pid }) => existsSync(`/proc/${pid}`)),
    output: () => started.map((each) => each.output()).join(''),
    stop: async () => {
      for (const { pid, ended: end } of started.reverse()) {
        if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
        await end;
      }
    },
  };
}

/** name@version of every installed package. */
function packagesIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(`node_modules/${file}`))
    .map((file) => {
      const { name, version } = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
      return `${name}@${version}`;
    });
  return [...new Set(found)].sort();
}

/** Every file of a folder with the hash of its bytes. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => {
      const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
      return `${path.relative(folder, file)} ${hash}`;
    })
    .sort();
}

const ended = () => !existsSync(`/proc/${container.pid}`);

/** Status of what a probe of the overlay asks for; 0 when no server listens. */
async function probe(name: string): Promise<number> {
  const { path: target, port } = pod[name].httpGet as { path: string; port: 'public' };
  return fetch(`http://127.0.0.1:${ports[port]}${target}`).then(
    (answer) => answer.status,
    () => 0,
  );
}

describe('the image', () => {
  it('runs without root, says where it listens and what it is', () => {
    expect(image.config).toMatchObject({
      User: '10001:10001',
      StopSignal: 'SIGTERM',
      ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
      Labels: { 'org.opencontainers.image.licenses': 'MIT' },
    });
  });

  it('holds production dependencies and no sources', () => {
    const app = path.join(image.rootfs, 'app');
    expect(readdirSync(app).sort()).toEqual([
      'LICENSE',
      'config',
      'data',
      'dist',
      'node_modules',
      'package.json',
      'sbom.cdx.json',
    ]);
    expect(existsSync(path.join(app, 'node_modules/express'))).toBe(true);
    for (const tool of ['typescript', 'jest', '@biomejs', '@swc']) {
      expect(existsSync(path.join(app, 'node_modules', tool))).toBe(false);
    }
  });

  it('brings Node, and no package manager', () => {
    expect(existsSync(path.join(image.rootfs, 'usr/local/bin/node'))).toBe(true);
    for (const tool of ['npm', 'npx', 'yarn', 'corepack'])
      expect(existsSync(path.join(image.rootfs, 'usr/local/bin', tool))).toBe(false);
  });

  it('has no maps and no types, which no program loads', () => {
    const app = path.join(image.rootfs, 'app');
    expect(filesIn(app).filter((file) => /\.(map|d\.[cm]?ts) /.test(file))).toEqual([]);
  });

  it('lists in its bill of materials exactly the packages it holds, and Node', () => {
    const app = path.join(image.rootfs, 'app');
    const { components, metadata } = JSON.parse(readFileSync(path.join(app, 'sbom.cdx.json'), 'utf8'));
    const [node] = components.splice(-1);
    const version = execFileSync(path.join(image.rootfs, 'usr/local/bin/node'), ['--version'], {
      encoding: 'utf8',
    });
    expect([metadata.component.name, node.name, `v${node.version}`]).toEqual([
      'transcript-receiver',
      'node',
      version.trim(),
    ]);
    const listed = components.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
    expect([...new Set<string>(listed)].sort()).toEqual(packagesIn(path.join(app, 'node_modules')));
  });

  it('holds the bytes that the same sources give elsewhere', () => {
    const app = path.join(image.rootfs, 'app');
    const elsewhere = folderOf('elsewhere', {
      'package.json': readProjectFile('package.json'),
      'package-lock.json': readProjectFile('package-lock.json'),
    });
    const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['ci', ...options], { cwd: elsewhere, stdio: 'pipe' });
    const packages = path.join(elsewhere, 'node_modules');
    execFileSync(process.execPath, [inProject('scripts/prune-packages.mjs'), packages]);
    expect(filesIn(path.join(app, 'node_modules'))).toEqual(filesIn(packages));
    // The project's own folder may hold files of sources that have gone.
    expect(filesIn(inProject('dist'))).toEqual(expect.arrayContaining(filesIn(path.join(app, 'dist'))));
  });

  it('runs as the user of the pod, without privileges', async () => {
    const status = await readFile(`/proc/${container.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NSpid:\s+\d+\s+1$/m);
  });

  it('cannot write outside of its volume', async () => {
    expect(await container.exec(['touch', '/app/dist/x'])).not.toBe(0);
    expect(await container.exec(['touch', '/tmp/x'])).not.toBe(0);
    expect(await container.exec(['touch', '/data/.probe'])).toBe(0);
  });

  it('answers the probes of the overlay and its own health check', async () => {
    for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(await probe(name)).toBe(200);
    const [kind, ...command] = image.config.Healthcheck.Test;
    expect(kind).toBe('CMD');
    expect(await container.exec(command)).toBe(0);
  });

  it('fails its health check when no server responds', async () => {
    const [, ...command] = image.config.Healthcheck.Test;
    expect(await container.exec(['env', 'TR_PORT=1', ...command])).toBe(1);
  });

  it('asks the port of the settings, wherever they come from', async () => {
    const [, ...command] = image.config.Healthcheck.Test;
    const codeFor = (port: number) => {
      const settings = JSON.stringify({ receiver: { port } });
      return container.exec(['env', '-u', 'TR_PORT', `NODE_CONFIG=${settings}`, ...command]);
    };
    expect([await codeFor(ports.public), await codeFor(1)]).toEqual([0, 1]);
  });

  it('runs the try-out of docker-compose.yml: the simulator sends, the receiver stores', async () => {
    const composed = await startComposed();
    try {
      const jobs = path.join(composed.data, 'jobs');
      const stored = () => (existsSync(jobs) ? readdirSync(jobs, { recursive: true }).map(String) : []);
      await until(
        async () => stored().some((file) => /transcript\.json$/.test(file)) || !composed.isRunning(),
      );
      if (!composed.isRunning()) throw new Error(composed.output());
    } finally {
      await composed.stop();
    }
  });

  it.each(['a', 'b'])('takes a callback with credential %s and keeps it in the volume', async (slot) => {
    const id = `image-${slot}`;
    const answer = await fetch(`http://127.0.0.1:${ports.public}/callbacks/default?id=${id}&status=success`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${secrets[`callback-token-${slot}`]}`,
      },
      body: transcript,
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { outcome: 'stored' }]);
    expect(await readFile(path.join(scratch, `data/jobs/${id}/transcript.json`), 'utf8')).toBe(transcript);
  });

  it('refuses a callback without one', async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.public}/callbacks/default?id=x&status=success`, {
      method: 'POST',
    });
    expect(answer.status).toBe(401);
  });

  it('shows every documented metric where the service monitor looks', async () => {
    const [{ path: target, port }] = readManifest('k8s/components/monitoring/service-monitor.yaml').spec
      .endpoints;
    const answer = await fetch(`http://127.0.0.1:${ports[port as 'admin']}${target}`);
    const text = await answer.text();
    const metrics = createMetrics({ sources: [], regions: [] });
    const names = (await metrics.describe()).map(({ name }) => name);
    metrics.close();
    expect(names.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  // Last: process 1 gets no default action for signals from the kernel, so this shows that its own is in place.
  it('ends with 0 after SIGTERM, and serves while it drains', async () => {
    process.kill(container.pid, 'SIGTERM');
    await until(async () => (await probe('readinessProbe')) === 503);
    expect(await probe('livenessProbe')).toBe(200);
    expect(await container.ended).toBe(0);
  });
});
