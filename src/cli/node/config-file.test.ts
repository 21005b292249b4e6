import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { applyConfigFile, configFileOf } from './config-file.ts';
import { nodeCommand } from './node-command.ts';
import { writtenTimes } from './time-options.ts';

describe('the file of a node daemon', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'node-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function read(text: string, flags: readonly string[] = []): Record<string, unknown> {
    const command = nodeCommand();
    command.parseOptions([...flags]);
    const path = join(folder, 'node.properties');
    writeFileSync(path, text);
    applyConfigFile(command, path);
    return command.opts();
  }

  it('sets what a flag sets, by the same name', () => {
    const options = read('# of rack 7\nnode_name=worker-1\nself_fence=yes\nisolation_timeout=1m\nwatchdog=/dev/watchdog1\nlisten=:7412\n');
    expect(options).toMatchObject({ nodeName: 'worker-1', selfFence: true, watchdog: '/dev/watchdog1', listen: { port: 7412 } });
    expect(writtenTimes(options)).toEqual({ isolationTimeoutMs: 60_000 });
  });

  it('gives way to a flag', () => {
    expect(writtenTimes(read('isolation_timeout=1m\n', ['--isolation-timeout', '50s']))).toEqual({ isolationTimeoutMs: 50_000 });
  });

  it.each([
    ['an unknown key', 'isolation_timout=60s\n', 'line 1: unknown key isolation_timout: did you mean isolation_timeout?'],
    [
      'a time that is none',
      '\nisolation_timeout=soon\n',
      'line 2: isolation_timeout=soon: must be a duration such as 5s or 1m, at least 30s and at most 3600s.',
    ],
    ['a time that is too short', 'isolation_timeout=29s\n', 'at least 30s'],
    ['a switch that is neither', 'self_fence=perhaps\n', 'self_fence=perhaps: must be yes or no.'],
    ['another word', 'log_level=loud\n', 'log_level=loud: Allowed choices are info, warn, error.'],
    ['no setting', 'isolation_timeout\n', 'line 1: is not key=value'],
    ['a key that stands twice', 'watchdog=none\nwatchdog=none\n', 'line 2: duplicate key watchdog'],
    ['the file itself', 'config=/etc/other\n', 'unknown key config'],
  ])('is refused for %s', (_what, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('is in a folder the one that bears the name of the node, which may have none', () => {
    writeFileSync(join(folder, 'worker-1'), 'unfence_key=a1\n');
    expect(configFileOf(folder, 'worker-1')).toEqual({ file: join(folder, 'worker-1'), isThere: true });
    expect(configFileOf(folder, 'worker-2')).toEqual({ file: join(folder, 'worker-2'), isThere: false });
  });

  it('that is named itself must be there', () => {
    const { file, isThere } = configFileOf(join(folder, 'absent'), 'worker-1');
    expect(isThere).toBe(true);
    expect(() => applyConfigFile(nodeCommand(), file)).toThrow('ENOENT');
  });

  it('tells all that is wrong at once', () => {
    expect(() => read('a=1\nisolation_timeout=2\n')).toThrow(/line 1: .*; line 2: /);
  });
});
