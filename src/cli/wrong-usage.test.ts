import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compileCache } from '../testbed/compile-cache.ts';
import { programPath } from '../testbed/shipped/program.ts';

const MAIN = programPath('main');
const folder = mkdtempSync(join(tmpdir(), 'nodefence-usage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  out: string;
  lines: string[];
}

/** `nodefence <words>`; `stdin` absent: it stays open. */
function nodefence(words: readonly string[], stdin?: string, environment: Record<string, string> = {}): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...compileCache(), ...environment };
  const child = spawn(process.execPath, [MAIN, ...words], { env, stdio: 'pipe' });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  if (stdin !== undefined) child.stdin.end(stdin);
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, out: said.out, lines: said.err.trimEnd().split('\n') }));
  });
}

describe('wrong usage', { timeout: 60_000 }, () => {
  it.each([
    [['controller', '--bogus']],
    [['controller', '--mode', 'fence']],
    [['controller', 'worker-1']],
    [['drill', '--bogus']],
    [['drill', '--fault', 'nope']],
    [['drill', '--fault', 'leader-pause', '--replicas', '1']],
    [['drill', '--fault', 'full-partition', '--nodes', '4']],
    [['drill', '--config', folder, '--agent', 'ipmi']],
    [['agent']],
    [['agent', 'no-such']],
  ])('%j ends with 2', async (words) => {
    const { code, out, lines } = await nodefence(words, '');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(lines.join('\n')).toMatch(/error: |nodefence agent: /u);
  });

  it.each([
    [
      ['stop', '--all'],
      ["error: required option '--reason <text>' not specified", 'See nodefence stop --help'],
    ],
    [
      ['preserve', 'a', 'now', '--for', '24x'],
      [expect.stringContaining('must be a duration such as 24h') as string, 'See nodefence preserve --help'],
    ],
    [
      ['node', 'check', 'watchdog', '--bogus'],
      ["error: unknown option '--bogus'", 'See nodefence node check watchdog --help'],
    ],
    [['stauts'], ["error: unknown command 'stauts'", '(Did you mean status?)', 'See nodefence --help']],
  ])('%j says where its options are told', async (words, expected) => {
    expect(await nodefence(words, '')).toMatchObject({ code: 2, lines: expected });
  });

  it('shows a fingerprint without a flag that there is no other for', async () => {
    const { code, lines } = await nodefence(['probe', '127.0.0.1:1'], '');
    expect({ code, lines }).toEqual({ code: 1, lines: ['nodefence: 127.0.0.1:1 showed no certificate: connect ECONNREFUSED 127.0.0.1:1'] });
  });

  it('takes -n for the namespace, as kubectl does', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(
      kubeconfig,
      'clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n',
    );
    const { code, lines } = await nodefence(['validate', '-n', 'fencing'], '', { KUBECONFIG: kubeconfig });
    expect({ code, lines }).toEqual({ code: 2, lines: [expect.stringContaining('/api/v1/namespaces/fencing/configmaps: ') as string] });
  });

  it.each([
    ['a status that is asked for on stdin', ['agent', 'no-such'], 'action=status\n'],
    ['an action that stdin does not tell in time', ['agent', 'no-such'], undefined],
    ['a status where the name was forgotten', ['agent', '-o', 'status'], ''],
    ['an option that an agent does not know', ['agent', 'redfish', '--bogus'], ''],
  ])('of %s is 1: a fencer would read 2 as off', async (_what, words, stdin) => {
    expect(await nodefence(words, stdin)).toMatchObject({ code: 1, out: '' });
  });

  it.each([[['agent', '--help']], [['agent', '-h']]])(
    '%j helps: how an agent is called, which there are, and what the exit codes say',
    async (words) => {
      const { code, out } = await nodefence(words, '');
      expect(code).toBe(0);
      expect(out).toMatch(/Usage: nodefence agent <name> \[options\][^]*redfish[^]*Exit codes/u);
    },
  );
});

describe('nodefence help <command>', { timeout: 60_000 }, () => {
  it.each(['stop', 'node', 'agent'])('of %s is its --help', async (command) => {
    const asked = await nodefence(['help', command], '');
    expect(asked).toEqual(await nodefence([command, '--help'], ''));
    expect(asked).toMatchObject({ code: 0, out: expect.stringMatching(command === 'stop' ? /--reason <text>/u : /Usage/u) as string });
  });

  it('helps with commands of commands', async () => {
    const { code, out } = await nodefence(['help', 'node', 'status'], '');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Usage: nodefence node status /u) as string });
  });
});

describe('a drill on a real control plane that does not start', { timeout: 120_000 }, () => {
  const assets = (server: string): string => {
    const place = mkdtempSync(join(folder, 'assets-'));
    for (const [name, script] of Object.entries({ etcd: 'exec sleep 60', 'kube-apiserver': server, 'kube-controller-manager': 'exec sleep 60' })) {
      writeFileSync(join(place, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(place, name), 0o700);
    }
    return place;
  };

  it.each([
    ['a program that is not one', 'echo "bad image" >&2; exit 3', 'bad image'],
    ['a server that ends', '[ "$1" = --version ] && { echo Kubernetes v1.36.3; exit; }; echo "cannot bind" >&2; exit 3', 'cannot bind'],
  ])('says why in its last line: %s', async (_what, script, words) => {
    const { code, lines } = await nodefence(['drill', '--api', 'real'], '', { KUBEBUILDER_ASSETS: assets(script) });
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatch(/^the drill failed: /u);
    expect(lines.at(-1)).toContain(words);
  });

  it('says what is missing where there is none', async () => {
    const { code, lines } = await nodefence(['drill', '--api', 'real'], '', { KUBEBUILDER_ASSETS: folder });
    expect(code).toBe(1);
    expect(lines.at(-1)).toContain('has no executable etcd, kube-apiserver, kube-controller-manager');
  });
});
