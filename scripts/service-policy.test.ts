import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { withoutServices } from './service-policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'nodefence-policy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'policy-rc.d');
const verdict = (): number | null => spawnSync(file, ['snmpd', 'start']).status;

describe('while packages are installed', () => {
  it('no service may start, and afterwards nothing is left of that, also when the installation fails', () => {
    expect(withoutServices(file, verdict)).toBe(101);
    expect(existsSync(file)).toBe(false);
    const failing = (): never => {
      throw new Error('no network');
    };
    expect(() => withoutServices(file, failing)).toThrow('no network');
    expect(existsSync(file)).toBe(false);
  });

  it('a policy of somebody else is left as it is', () => {
    writeFileSync(file, '#!/bin/sh\nexit 104\n', { mode: 0o755 });
    expect(withoutServices(file, verdict)).toBe(104);
    expect(readFileSync(file, 'utf8')).toContain('exit 104');
    rmSync(file);
  });

  it('one that a killed installation left behind forbids nothing, and is replaced', () => {
    const left = withoutServices(file, () => readFileSync(file, 'utf8'));
    const dead = spawnSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(file, left.replace(String(process.pid), dead), { mode: 0o755 });
    expect(verdict()).toBe(0);
    expect(withoutServices(file, verdict)).toBe(101);
    expect(existsSync(file)).toBe(false);
  });
});
