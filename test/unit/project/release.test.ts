import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

/* The workflow that releases a tag, and what it calls. No runner is at hand: its shape is checked, and its own scripts are run. */

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly steps: readonly Step[];
}

const root = new URL('../../../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8');
const { engines, version } = JSON.parse(textOf('package.json'));
const text = textOf('.github/workflows/release.yml');
const workflow = parse(text) as { jobs: Record<string, Job> };
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
const uses = steps.flatMap((step) => step.uses ?? []);
const commands = steps.flatMap(({ run }) => run ?? []);

describe('.github/workflows/release.yml', () => {
  it('pins every action by commit, with its version beside it', () => {
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      expect(text).toMatch(new RegExp(`${action} # v\\d+\\.\\d+\\.\\d+`));
    }
  });

  it('takes no text of others into a command line', () => {
    for (const command of commands) expect(command).not.toContain('${{');
  });

  it('publishes the package with provenance, and the image with provenance and bill of materials', () => {
    expect(commands).toContain('npm publish --provenance --access public');
    const manifest = publishedManifest({
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'team/receiver',
    });
    expect(manifest.repository).toEqual({ type: 'git', url: 'git+https://github.com/team/receiver.git' });
    const build = steps.find((step) => step.uses?.startsWith('docker/build-push-action@'))?.with;
    expect(build).toMatchObject({ provenance: 'mode=max', sbom: true });
    expect(build?.outputs).toMatch(/push=true,rewrite-timestamp=true$/);
    for (const name of ['VERSION', 'REVISION']) {
      expect(build?.['build-args']).toMatch(new RegExp(`^${name}=`, 'm'));
      expect(textOf('Dockerfile')).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
    }
  });
});

/** The package.json that `npm publish` reads, after the steps before it ran in this environment. */
function publishedManifest(environment: Record<string, string>): { repository?: unknown } {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    writeFileSync(join(folder, 'package.json'), textOf('package.json'));
    const steps = workflow.jobs.package?.steps ?? [];
    for (const { run } of steps) {
      if (run === undefined || /^npm (ci|publish) /.test(run)) continue;
      execFileSync('sh', ['-ec', run], { cwd: folder, env: { ...process.env, ...environment } });
    }
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('.github/workflows/check.yml', () => {
  const check = textOf('.github/workflows/check.yml');
  type Check = Job & { readonly strategy: { readonly matrix: object } };
  const parsed = parse(check) as { jobs: { check: Check } };
  const checkSteps = parsed.jobs.check.steps;

  it('checks types, lint and the default suite on each line of Node that the package allows', () => {
    const lines = [...engines.node.matchAll(/>=(\d+)/g)].map(([, line]) => Number(line));
    expect(parsed.jobs.check.strategy.matrix).toEqual({ node: lines });
    const run = checkSteps.flatMap((step) => step.run ?? []);
    const linters = ['npm run lint', 'npm run lint:unused', 'npm run lint:docs'];
    expect(run.slice(1)).toEqual(['npm run typecheck', ...linters, 'npm test']);
  });
});

describe('scripts/release-version.mjs', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('scripts/release-version.mjs', root)), ...args], {
      encoding: 'utf8',
    });

  it('accepts the version of the repository only when nothing is unreleased', () => {
    const [, unreleased = ''] = /^## \[Unreleased\]\n([\s\S]*?)^## /m.exec(textOf('CHANGELOG.md')) ?? [];
    const { status, stdout, stderr } = run(`v${version}`);
    if (unreleased.trim() === '') expect([status, stdout]).toEqual([0, `version=${version}\n`]);
    else expect([status, stderr]).toEqual([1, 'CHANGELOG.md has unreleased entries\n']);
  });

  it.each([
    ['another version', 'v999.0.0', /package\.json is of version/],
    ['no version', 'main', /"main" is not vX\.Y\.Z/],
  ])('rejects %s', (_, tag, expected) => {
    const { status, stderr } = run(tag);
    expect(status).toBe(1);
    expect(stderr).toMatch(expected);
  });
});

describe('the base images', () => {
  it('are pinned by digest, and the build has the line of Node that is tested most', () => {
    const bases = [...textOf('Dockerfile').matchAll(/^ARG (?:BUILD_)?BASE=(.*)$/gm)].map(
      ([, base]) => base ?? '',
    );
    expect(bases).toHaveLength(2);
    for (const base of bases) expect(base).toMatch(/^[\w.]+\/[\w/-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    expect(bases[0]).toContain('/node:24-');
  });
});
