import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';

import { afterAll, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { certificateOf, describeCertificate } from '../../src/cli/probe-command.ts';
import { inputFromFiles } from '../../src/cli/validate/files.ts';
import { validate } from '../../src/cli/validate/validation.ts';
import { CLUSTER_DURATION_KEYS, DURATION_KEYS, OTHER_KEYS, STEP_KEYS } from '../../src/config/node-keys.ts';
import { ERRORS } from '../../src/domain/errors.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'nodefence-first-hour-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what a new user reads', () => {
  it('shows a configuration in README.md in which validate finds nothing, with a device that is trusted by its certificate', () => {
    const [, block = ''] = /```yaml\n(\s*# bmc\.yaml\n[\s\S]*?)```/.exec(page('README.md')) ?? [];
    const text = block.replaceAll(/^ {3}/gm, '');
    const file = join(folder, 'bmc.yaml');
    writeFileSync(file, text);
    const { report } = validate(inputFromFiles([file], 'nodefence-system'), standardRegistry(), ['worker-1']);
    expect(report.problems).toEqual([]);
    expect(report.nodes.map(({ facts }) => facts.name)).toEqual(['worker-1']);
    expect(text.match(/ssl_fingerprint=[0-9a-f]{64}$/gm)).toHaveLength(2);
  });

  it('has every code of a failure, with what it means and what to do', () => {
    const told = page('docs/troubleshooting.md').replaceAll(/ +/g, ' ');
    for (const [name, { code, summary, remedy }] of Object.entries(ERRORS))
      expect(told).toContain(`| ${code} | \`${name}\` | ${summary} | ${remedy} |`);
  });

  it('has every key of a node and of the cluster', () => {
    const told = page('docs/configuration.md');
    const keys = [...Object.keys(DURATION_KEYS), ...OTHER_KEYS, ...Object.keys(CLUSTER_DURATION_KEYS), ...STEP_KEYS];
    expect(keys.filter((key) => !new RegExp(`\`${key}[=\`]`).test(told))).toEqual([]);
  });

  it('has the mark of maintenance, and names no command that there is not', () => {
    expect(page('docs/policies.md')).toContain('nodefence/maintenance');
    for (const path of ['README.md', 'docs/policies.md', 'docs/troubleshooting.md', 'docs/configuration.md', 'docs/security.md'])
      expect(page(path)).not.toMatch(/nodefence fence\b/);
  });
});

describe('nodefence probe --show-fingerprint', () => {
  it('shows the certificate that the device has, as ssl_fingerprint= takes it', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=bmc.example', '-days', '30', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const told = execFileSync('openssl', ['x509', '-in', cert, '-noout', '-fingerprint', '-sha256'], { encoding: 'utf8' });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
      const words = describeCertificate(await certificateOf(address), address);
      const [, expected = ''] = /=([0-9A-F:]+)/.exec(told) ?? [];
      expect(words.split('\n')[0]).toBe(`ssl_fingerprint=${expected.replaceAll(':', '').toLowerCase()}`);
      expect(words).toContain('CN=bmc.example');
    } finally {
      server.close();
    }
  });

  it('says that nobody answers', async () => {
    await expect(certificateOf({ host: '127.0.0.1', port: 1 })).rejects.toThrow('127.0.0.1:1 showed no certificate: ');
  });
});
