import { spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { controllerCommand } from '../../src/cli/controller-command.ts';
import { nodeCommand } from '../../src/cli/node/node-command.ts';
import { TOKEN_SECONDS_MAX } from '../../src/domain/node-daemon/account.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'systemd');
const PAGE = readFileSync(join(FOLDER, 'README.md'), 'utf8');
const UNIT = readFileSync(join(FOLDER, 'nodefence-controller.service'), 'utf8');
/** As systemd/README.md says it, in tenths, and one more: other versions of systemd ask about more. */
function exposureMax(unit: string): string {
  const [, whole, tenth] = new RegExp(`^\\| \\x60${unit}\\x60 +\\| (\\d)\\.(\\d) `, 'm').exec(PAGE) ?? [];
  return String(Number(whole) * 10 + Number(tenth) + 1);
}
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

function values(key: string): string[] {
  const lines = UNIT.split('\n').filter((line) => line.startsWith(`${key}=`));
  return lines.map((line) => line.slice(key.length + 1));
}

function variables(): string[] {
  return controllerCommand().options.flatMap((option) => option.envVar ?? []);
}

describe('the systemd unit', () => {
  it('starts the controller without a flag of its own, so that the environment file decides', () => {
    expect(values('ExecStart')).toEqual([
      '/opt/nodefence/node_modules/.bin/node --max-semi-space-size=2 /opt/nodefence/node_modules/nodefence/dist/src/main.js controller',
    ]);
    expect(values('EnvironmentFile')).toEqual(['-/etc/nodefence/controller.env']);
  });

  it('starts it with the flags and the memory of the image', () => {
    const image = readFileSync(join(FOLDER, '..', 'Dockerfile'), 'utf8');
    const [, flags = 'none'] = /^ENTRYPOINT \["node", "(.*)", "\/app/m.exec(image) ?? [];
    const [, variable = 'none'] = /^ENV (MALLOC_\w+=\d+)$/m.exec(image) ?? [];
    expect(values('ExecStart').join(' ')).toContain(`/node ${flags} /`);
    expect(values('Environment')).toContain(variable);
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

  it.each(['controller', 'node'])('of the %s leaves no dump of the memory in which passwords stand', (name) => {
    expect(readFileSync(join(FOLDER, `nodefence-${name}.service`), 'utf8')).toMatch(/^LimitCORE=0$/m);
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

  it('rates its exposure as the page says', () => {
    const { status, stdout } = analyze('security', '--offline=true', `--threshold=${exposureMax('nodefence-controller')}`, '--no-pager', unit);
    expect(stdout).toMatch(/Overall exposure level for nodefence-controller.service: \d\.\d OK/);
    expect(status).toBe(0);
  });

  it('would rate one higher that is more open', () => {
    const open = join(folder, 'nodefence-open.service');
    writeFileSync(open, UNIT.replace('User=nodefence', 'User=root').replace('CapabilityBoundingSet=\n', ''));
    expect(analyze('security', '--offline=true', `--threshold=${exposureMax('nodefence-controller')}`, '--no-pager', open).status).not.toBe(0);
  });

  it('understands the account that it makes', () => {
    const said = spawnSync('systemd-sysusers', ['--dry-run', join(FOLDER, 'nodefence.sysusers.conf')], { encoding: 'utf8' });
    expect({ status: said.status, stderr: said.stderr.replace(/^(Creating|Would).*$/gm, '').trim() }).toEqual({ status: 0, stderr: '' });
  });
});

describe('the page of the units', () => {
  it('calls the program where it is installed: nothing of it is in PATH', () => {
    const blocks = [...readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/```sh\n([^]*?)```/gu)].map(([, block = '']) => block);
    expect(blocks).toHaveLength(2);
    expect(
      blocks
        .join('\n')
        .split('\n')
        .filter((line) => line.startsWith('nodefence ')),
    ).toEqual([]);
    expect(blocks[1]).toContain('\n/opt/nodefence/node_modules/.bin/node ../dist/src/main.js node status\n');
  });
});

describe('the unit of the node daemon', () => {
  const unit = readFileSync(join(FOLDER, 'nodefence-node.service'), 'utf8');
  const all = (key: string): string[] => unit.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));

  it('starts the daemon whenever it ended, and is told of progress by a child', () => {
    expect(all('ExecStart')).toEqual([
      '/opt/nodefence/node_modules/.bin/node --lite-mode /opt/nodefence/node_modules/nodefence/dist/src/main.js node',
    ]);
    expect([all('Type'), all('NotifyAccess'), all('Restart'), all('StartLimitIntervalSec')]).toEqual([['notify'], ['all'], ['always'], ['0']]);
  });

  it('waits longer for a clean stop than the daemon waits for the API server', () => {
    expect(Number.parseInt(all('TimeoutStopSec')[0] ?? '', 10)).toBeGreaterThan(25);
  });

  it('keeps what must outlive the process, and leaves it its ways to end the node', () => {
    expect(all('RuntimeDirectoryPreserve')).toEqual(['yes']);
    for (const key of ['ProtectKernelTunables', 'ProtectKernelLogs', 'ProtectControlGroups', 'PrivateDevices', 'PrivateUsers', 'ProtectProc'])
      expect(all(key), key).toEqual([]);
    expect(all('CapabilityBoundingSet')[0]?.split(' ')).toEqual(expect.arrayContaining(['CAP_KILL', 'CAP_SYS_BOOT']));
  });

  it('sets variables that the daemon reads, and its file explains no others', () => {
    const known = nodeCommand().options.flatMap((option) => option.envVar ?? []);
    const set = all('Environment').flatMap((line) => [...line.matchAll(/(NODEFENCE_\w+)=/g)].map(([, name]) => name ?? ''));
    const explained = [...readFileSync(join(FOLDER, 'node.env'), 'utf8').matchAll(/^#?(NODEFENCE_\w+)=/gm)].map(([, name]) => name ?? '');
    expect(explained).toContain('NODEFENCE_NODE_SELF_FENCE');
    expect([...set, ...explained].filter((name) => !known.includes(name))).toEqual([]);
  });

  it.runIf(hasSystemd)('has nothing wrong to systemd, which rates its exposure as the page says (needs systemd-analyze)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-systemd-'));
    const path = join(folder, 'nodefence-node.service');
    writeFileSync(path, unit.replace('/opt/nodefence/node_modules/.bin/node', process.execPath));
    const analyze = (...parameters: string[]): SpawnSyncReturns<string> =>
      spawnSync('systemd-analyze', parameters, { encoding: 'utf8', timeout: 20_000 });
    const { status, stderr } = analyze('verify', '--man=no', path);
    expect({ status, complaints: stderr.split('\n').filter((line) => line.includes('nodefence')) }).toEqual({ status: 0, complaints: [] });
    const rated = analyze('security', '--offline=true', `--threshold=${exposureMax('nodefence-node')}`, '--no-pager', path);
    expect([rated.status, rated.stdout]).toEqual([0, expect.stringMatching(/Overall exposure level for nodefence-node.service: \d\.\d/)]);
    rmSync(folder, { recursive: true });
  });
});

describe('the renewal of the token', () => {
  const unit = readFileSync(join(FOLDER, 'nodefence-token.service'), 'utf8');
  const [, shell = ''] = /^ExecStart=\/bin\/sh -ec '(.+)'$/m.exec(unit) ?? [];

  /** Runs what the unit runs, with this kubectl. */
  function renew(kubectl: string): { status: number | null; token: string | undefined; left: string[] } {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-token-'));
    const place = join(folder, 'nodefence-token');
    mkdirSync(place);
    writeFileSync(join(place, 'token'), 'the old one');
    writeFileSync(join(folder, 'kubectl'), `#!/bin/sh\n${kubectl}\n`, { mode: 0o755 });
    const { status } = spawnSync('/bin/sh', ['-ec', shell.replaceAll('%t', folder)], { env: { PATH: `${folder}:/bin:/usr/bin` }, timeout: 20_000 });
    const [token, left] = [readFileSync(join(place, 'token'), 'utf8'), readdirSync(place)];
    rmSync(folder, { recursive: true });
    return { status, token, left };
  }

  it('asks for one of a day, and puts it in place whole', () => {
    expect(renew('printf %s "$*"')).toEqual({
      status: 0,
      token: '-n nodefence-system create token nodefence-controller --duration=24h',
      left: ['token'],
    });
  });

  it('leaves the old one where there is no new one', () => {
    expect(renew('printf half; exit 1')).toMatchObject({ status: 1, token: 'the old one' });
  });

  it.runIf(hasSystemd).each(['nodefence-token', 'nodefence-node-token'])('by %s has nothing wrong to systemd (needs systemd-analyze)', (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-systemd-'));
    const paths = ['service', 'timer'].map((kind) => join(folder, `${name}.${kind}`));
    for (const path of paths)
      writeFileSync(path, readFileSync(join(FOLDER, basename(path)), 'utf8').replace('/opt/nodefence/node_modules/.bin/node', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8', timeout: 20_000 });
    expect({ status, complaints: stderr.split('\n').filter((line) => line.includes('nodefence')) }).toEqual({ status: 0, complaints: [] });
    const words = ['security', '--offline=true', `--threshold=${exposureMax(name)}`, '--no-pager', ...paths.slice(0, 1)];
    const rated = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
    expect([rated.status, rated.stdout]).toEqual([0, expect.stringContaining(`Overall exposure level for ${name}.service`)]);
    rmSync(folder, { recursive: true });
  });

  it("of a node keeps the daemon waiting for nothing: an armed watchdog would not wait, and the token of before is on the node's disk", () => {
    const daemon = readFileSync(join(FOLDER, 'nodefence-node.service'), 'utf8');
    const renewal = readFileSync(join(FOLDER, 'nodefence-node-token.service'), 'utf8');
    expect(daemon).not.toContain('token.service');
    expect(renewal).not.toMatch(/^(Before|WantedBy|RequiredBy)=/m);
    expect(renewal).toMatch(/^StateDirectory=nodefence-node-token$/m);
    expect(renewal).toMatch(/ node renew-token$/m);
    expect(PAGE).toContain('tokenFile: /var/lib/nodefence-node-token/token');
  });

  it('of a node is tried far more often than its token needs, and again soon where it failed', () => {
    const timer = readFileSync(join(FOLDER, 'nodefence-node-token.timer'), 'utf8');
    const [, hours = ''] = /^OnUnitActiveSec=(\d+)h$/m.exec(timer) ?? [];
    expect(Number(hours) * 3_600 * 4).toBeLessThan(TOKEN_SECONDS_MAX);
    expect(readFileSync(join(FOLDER, 'nodefence-node-token.service'), 'utf8')).toMatch(/^Restart=on-failure$/m);
  });
});
