import { describe, expect, it } from '@jest/globals';
import { createCommand } from '../../src/cli/simulate.js';
import { parseConfig } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/load-settings.js';
import { readManifest } from '../support/manifests.js';

const { services, volumes } = readManifest('docker-compose.yml');
const { receiver, simulator } = services;

describe('docker-compose.yml', () => {
  const env: Record<string, string> = { ...receiver.environment, NODE_ENV: 'production' };
  const known = JSON.stringify(readManifest('config/custom-environment-variables.yaml'));
  const config = parseConfig(loadSettings(env).tree);

  it('sets only variables that mean something', () => {
    const { NODE_CONFIG: _, ...variables } = receiver.environment;
    for (const name of Object.keys(variables)) expect(known).toContain(`"${name}"`);
  });

  it('gives the receiver the store, a credential and a service to reconcile with', () => {
    expect(config.store.url).toBe('file:/data');
    const mounted = receiver.volumes.map((volume: string) => volume.split(':'));
    expect(mounted.map(([, target]: string[]) => target)).toEqual(['/data', '/cache']);
    for (const [name] of mounted) expect(Object.hasOwn(volumes, name)).toBe(true);
    expect(config.recovery.interval).not.toBeNull();
    expect(config.speech.regions.eu1.batchUrl).toBe('http://simulator:9100');
  });

  it('needs no image but the one that is built here', () => {
    for (const service of Object.values(services) as object[]) {
      expect(service).toMatchObject({ build: '.' });
      expect(service).not.toHaveProperty('image');
    }
  });

  it('publishes on loopback only, and the ports the receiver listens on', () => {
    const { port } = config.receiver;
    expect(receiver.ports).toEqual([
      `127.0.0.1:${port}:${port}`,
      `127.0.0.1:${config.admin.port}:${config.admin.port}`,
    ]);
  });

  it('listens on every address of both families inside the containers', () => {
    expect([config.receiver.host, config.admin.host]).toEqual(['', '']);
    expect(simulator.command).toContain('--host=');
  });

  it('lets the receiver drain before it is killed', () => {
    const { drainDelay, drainDeadline } = config.receiver;
    expect(Number.parseInt(receiver.stop_grace_period, 10) * 1000).toBeGreaterThan(
      drainDelay + drainDeadline,
    );
  });

  it('tells the simulator only what it understands, and the receiver the same secrets', () => {
    const [name, ...args] = simulator.command as string[];
    const command = createCommand().exitOverride();
    expect(command.name()).toBe(name);
    command.parseOptions(args);
    expect(command.opts()).toMatchObject({
      apiKey: config.speech.apiKey,
      authHeader: config.sources.default?.credentials.environment?.headers,
      callback: `http://receiver:${config.receiver.port}/callbacks/default`,
      region: { eu1: 9100 },
    });
    expect(command.parseOptions(args).unknown).toEqual([]);
  });
});
