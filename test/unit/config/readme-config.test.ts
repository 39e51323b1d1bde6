import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { loadConfig } from '../../../src/config/config.js';

it('the configuration for production that README shows is valid', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'readme-'));
  try {
    writeFileSync(join(folder, 'secret'), 'a-secret-of-more-than-twenty-characters\n');
    writeFileSync(
      join(folder, 'default.yaml'),
      yaml.replaceAll(/\/run\/secrets\/[\w-]+/g, join(folder, 'secret')),
    );
    const config = loadConfig('everything', { NODE_ENV: 'production', NODE_CONFIG_DIR: folder });
    expect(Object.keys(config.sources)).toEqual(['intake']);
    expect(config.store.url).toBe('s3://my-bucket/transcripts');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
