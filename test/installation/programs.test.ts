import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { rightsOfController, rightsOfValidate } from '../../src/cli/program-rights.ts';
import { inputFromFiles } from '../../src/cli/validate/files.ts';
import { validate } from '../../src/cli/validate/validation.ts';
import { AgentError } from '../../src/ports/agents.ts';
import type { Target } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { ProgramRights } from '../../src/ports/programs.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';

const CLUSTER = { get: () => Promise.resolve(undefined) } as unknown as Cluster;

/** What a ConfigMap names, and whether it ran: each program leaves a trace. */
describe('a program that a ConfigMap names', { timeout: 60_000 }, () => {
  let root = '';
  let folder = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'nodefence-programs-'));
    folder = join(root, 'programs');
    mkdirSync(folder);
    for (const [path, mode] of [
      [join(folder, 'filer'), 0o755],
      [join(folder, 'fence_mine'), 0o755],
      [join(root, 'evil'), 0o755],
    ] as const) {
      writeFileSync(path, `#!/bin/sh\necho "$0 $*" >> ${root}/ran\necho "Export list:"\n`);
      chmodSync(path, mode);
    }
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const ran = (): string => (existsSync(join(root, 'ran')) ? readFileSync(join(root, 'ran'), 'utf8') : '');

  function filesOf(program: string): string {
    const method = (action: string): string =>
      `agent_name=storage\nplug=10.0.0.5\naction=${action}\nstorage=filer\nstorage_match=nfs:192.0.2.40\nclose_command=${program} close %plug%\nstate_command=${program} list\nclosed_match=Export list:\nopen_match=/srv %plug%`;
    const data = {
      'config.properties': 'isolation=cordon shut\npower_management=fence\nidentity=unverified\nrecovery=uncordon let',
      'fence-method-shut': method('off'),
      'fence-method-let': method('on'),
      'fence-method-fence': 'agent_name=exec/fence_mine\nip=192.0.2.9\naction=off',
    };
    const file = join(root, 'fence.json');
    writeFileSync(file, JSON.stringify({ kind: 'ConfigMap', metadata: { name: 'fence-config-worker-1' }, data }));
    return file;
  }

  /** What validate says of it; then what a fence says that calls it. */
  async function tried(rights: ProgramRights, program: string): Promise<{ said: string; failure: string }> {
    const registry = standardRegistry(rights);
    const { report } = validate(inputFromFiles([filesOf(program)], 'nodefence-system'), registry, []);
    const said = report.problems.map(({ severity, message }) => `${severity}: ${message}`).join('\n');
    const agent = await registry.find('storage')?.create({ cluster: CLUSTER, clock: new SystemClock() });
    if (agent?.kind !== 'fabric') throw new Error('no agent storage');
    const target: Target = {
      ...{ plug: '10.0.0.5', device: 'filer', identity: { node: 'worker-1' }, deadlineMs: 20_000 },
      parameters: {
        ...{ close_command: `${program} close %plug%`, state_command: `${program} list` },
        ...{ closed_match: 'Export list:', open_match: '/srv %plug%' },
      },
      signal: new AbortController().signal,
      beforeSend: () => undefined,
    };
    const calls = [agent.read(target), agent.set(target, 'closed')];
    const failures = await Promise.all(
      calls.map((call) =>
        call.then(
          () => '',
          (error: unknown) => (error instanceof AgentError ? `${error.kind}: ${error.facts.answered}` : String(error)),
        ),
      ),
    );
    return { said, failure: failures.join('\n') };
  }

  it('runs where --programs names its folder, in mode enforce', async () => {
    const { said, failure } = await tried(rightsOfController(folder, 'enforce'), 'filer');
    expect({ failure, said: said.includes('cannot run') }).toEqual({ failure: '\n', said: false });
    expect(ran()).toContain(`${join(folder, 'filer')} close 10.0.0.5`);
  });

  it('runs none without --programs', async () => {
    // A name that the search path knows as well.
    const { said, failure } = await tried(rightsOfController(undefined, 'enforce'), 'ls');
    expect(said).toMatch(/error: state_command cannot run: ls .*start it with --programs DIR/);
    expect(said).toMatch(/error: agent_name cannot run: fence_mine .*start it with --programs DIR/);
    expect(failure).toMatch(/^Misconfigured: .*--programs.*\nMisconfigured: .*--programs/);
    expect(ran()).toBe('');
  });

  it('runs no program by a path with ..', async () => {
    const { said, failure } = await tried(rightsOfController(folder, 'enforce'), 'x/../../evil');
    expect(said).toMatch(/error: close_command cannot run: .*is a path/);
    expect(failure).toMatch(/^Misconfigured: .*is a path/);
    expect(ran()).not.toContain('evil');
  });

  it('runs no program by its full path', async () => {
    const { said, failure } = await tried(rightsOfController(folder, 'enforce'), join(root, 'evil'));
    expect(said).toContain('error: close_command cannot run');
    expect(failure).toContain('Misconfigured');
    expect(ran()).not.toContain('evil');
  });

  it('runs none in mode observe, not even to ask what it takes', async () => {
    const { said, failure } = await tried(rightsOfController(folder, 'observe'), 'filer');
    expect(said).toContain('warning: close_command is not run: mode observe runs no program');
    expect(said).toContain('fence_mine: what it takes is not known here: mode observe runs no program');
    expect(said).not.toContain('error:');
    expect(failure).toMatch(/^Misconfigured: .*mode observe runs no program.*\nMisconfigured: .*mode observe/);
    expect(ran()).toBe('');
  });

  it('tells in mode observe what enforce would refuse', async () => {
    expect((await tried(rightsOfController(folder, 'observe'), 'filter')).said).toContain('error: close_command cannot run: there is no filter in');
  });

  it('runs none for validate without --allow-programs', async () => {
    const { said, failure } = await tried(rightsOfValidate({ programs: folder }, undefined), 'filer');
    expect(said).toContain('validate runs no program that a configuration names without --allow-programs');
    expect(failure).toContain('Misconfigured');
    expect(ran()).toBe('');
    await tried(rightsOfValidate({ programs: folder, allowPrograms: true }, undefined), 'filer');
    expect(ran()).toContain('filer');
  });

  it('is not looked for on the machine of the person who validates', async () => {
    const { said } = await tried(rightsOfValidate({}, undefined), 'ls');
    expect(said).toContain(
      'warning: close_command runs where the controller runs: ls has to be in the folder that --programs of the controller names',
    );
    expect(said).not.toContain('error:');
    const ofLeader = await tried(rightsOfValidate({}, '/opt/p'), 'ls');
    expect(ofLeader.said).toContain('ls has to be in /opt/p where the controller runs: not looked for from here');
    expect((await tried(rightsOfValidate({}, ''), 'ls')).said).toContain('error: close_command cannot run');
  });
});
