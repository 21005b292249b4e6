import { spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { controllerCommand } from '../../src/cli/controller-command.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'systemd');
const UNIT = readFileSync(join(FOLDER, 'nodefence-controller.service'), 'utf8');
/** Tenths: the score that the design asks for is below 4. */
const EXPOSURE_MAX = '39';
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

function values(key: string): string[] {
  const lines = UNIT.split('\n').filter((line) => line.startsWith(`${key}=`));
  return lines.map((line) => line.slice(key.length + 1));
}

function variables(): string[] {
  return controllerCommand().options.flatMap((option) => option.envVar ?? []);
}

describe('the systemd unit', () => {
  it('starts the controller without a flag, so that the environment file decides', () => {
    expect(values('ExecStart')).toEqual(['/opt/nodefence/node_modules/.bin/node /opt/nodefence/node_modules/nodefence/dist/src/main.js controller']);
    expect(values('EnvironmentFile')).toEqual(['-/etc/nodefence/controller.env']);
  });

  it('starts again after a lost lease, and waits for calls that are under way at a stop', () => {
    expect(values('Restart')).toEqual(['always']);
    expect(values('TimeoutStopSec')).toEqual(['15s']);
    expect(values('KillSignal')).toEqual([]);
  });

  it('takes the kubeconfig as a credential, never by argument', () => {
    expect(values('LoadCredential')).toEqual(['kubeconfig:/etc/nodefence/kubeconfig']);
    expect(values('Environment').join(' ')).toContain('NODEFENCE_KUBECONFIG=%d/kubeconfig');
  });

  it('sets variables that the controller reads, and its file explains no others', () => {
    const known = variables();
    const set = values('Environment').flatMap((line) => [...line.matchAll(/(NODEFENCE_\w+)=/g)].map(([, name]) => name ?? ''));
    const file = readFileSync(join(FOLDER, 'controller.env'), 'utf8');
    const explained = [...file.matchAll(/^#?(NODEFENCE_\w+)=/gm)].map(([, name]) => name ?? '');
    expect(set).toContain('NODEFENCE_OWN_NODE');
    expect(explained).toContain('NODEFENCE_MODE');
    expect([...set, ...explained].filter((name) => !known.includes(name))).toEqual([]);
  });

  it('observes unless its file says otherwise', () => {
    expect(readFileSync(join(FOLDER, 'controller.env'), 'utf8')).toMatch(/^NODEFENCE_MODE=observe$/m);
  });

  it('leaves the JavaScript engine its memory', () => {
    expect(values('MemoryDenyWriteExecute')).toEqual([]);
  });
});

describe.runIf(hasSystemd)('systemd about the unit (needs systemd-analyze)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-systemd-'));
  const unit = join(folder, 'nodefence-controller.service');
  // The program is installed nowhere here: only the place of its interpreter is another.
  writeFileSync(unit, UNIT.replace('/opt/nodefence/node_modules/.bin/node', process.execPath));

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const analyze = (...words: string[]): SpawnSyncReturns<string> => spawnSync('systemd-analyze', words, { encoding: 'utf8', timeout: 20_000 });

  it('finds nothing wrong in it', () => {
    const { status, stderr } = analyze('verify', '--man=no', unit);
    expect({ status, complaints: stderr.split('\n').filter((line) => line.includes('nodefence')) }).toEqual({ status: 0, complaints: [] });
  });

  it('would find a misspelt directive', () => {
    writeFileSync(join(folder, 'nodefence-broken.service'), UNIT.replace('ProtectSystem=strict', 'ProtectSystems=strict'));
    expect(analyze('verify', '--man=no', join(folder, 'nodefence-broken.service')).stderr).toContain('ProtectSystems');
  });

  it('rates its exposure below 4', () => {
    const { status, stdout } = analyze('security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, '--no-pager', unit);
    expect(stdout).toMatch(/Overall exposure level for nodefence-controller.service: [0-3]\.\d OK/);
    expect(status).toBe(0);
  });

  it('understands the account that it makes', () => {
    const said = spawnSync('systemd-sysusers', ['--dry-run', join(FOLDER, 'nodefence.sysusers.conf')], { encoding: 'utf8' });
    expect({ status: said.status, stderr: said.stderr.replace(/^(Creating|Would).*$/gm, '').trim() }).toEqual({ status: 0, stderr: '' });
  });
});
