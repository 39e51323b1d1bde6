import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';

interface Environment {
  readonly global: { left?: string; readonly process: { readonly env: Record<string, string | undefined> } };
  teardown(): Promise<void>;
}

const sharedEnvironment: (...options: readonly unknown[]) => Environment = createRequire(import.meta.url)(
  '../../support/processes/shared-environment.cjs',
);

it('gives each file the globals and environment variables that the first one had', async () => {
  const projectConfig = { testEnvironmentOptions: {}, globals: {}, fakeTimers: {} };
  const open = () => sharedEnvironment({ projectConfig, globalConfig: {} }, {});
  const { global, teardown } = open();
  const { env } = global.process;
  const path = env.PATH;
  Object.assign(env, { LEFT: 'behind', PATH: '/elsewhere' });
  global.left = 'behind';
  await teardown.call(open());
  expect(open().global).toBe(global);
  expect([global.left, env.LEFT, env.PATH]).toEqual([undefined, undefined, path]);
});
