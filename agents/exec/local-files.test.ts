import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { ProgramFolder } from '../shared/process/program-folder.ts';
import { localProblem, withLocalFiles } from './local-files.ts';
import { parseMetadata } from './metadata.ts';

const folder = mkdtempSync(join(tmpdir(), 'nodefence-local-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'ssh'), '#!/bin/sh\n');
chmodSync(join(folder, 'ssh'), 0o755);
writeFileSync(join(folder, 'key'), 'k', { mode: 0o600 });
const programs = new ProgramFolder({ kind: 'folder', path: folder });

const parsed = parseMetadata(
  '<resource-agent name="fence_x"><parameters><parameter name="ssh_path"><content type="string"/></parameter></parameters><actions><action name="off"/></actions></resource-agent>',
);
if (parsed === undefined) throw new Error('the test has no metadata');
const metadata = parsed;
const problemsOf = (name: string, value: string): string[] => localProblem(metadata, name, value, programs).map(({ message }) => message);

describe('what a value would have a fence agent run, read or write', () => {
  it.each([
    ['ssh_path', '/tmp/evil'],
    ['ssh_path', '../ssh'],
    ['ipmitool_path', '/usr/bin/ipmitool'],
    ['exec', '/tmp/evil'],
    ['identity_file', '/root/.ssh/id_ed25519'],
    ['kubeconfig', '/tmp/kubeconfig'],
    ['tlscert', '/etc/shadow'],
    ['store_path', '/tmp'],
    ['cookie_file', 'cookies'],
    ['ssh_options', '-oProxyCommand=/tmp/evil'],
    ['ssh_options', '-o ProxyCommand=/tmp/evil'],
    ['ssh_options', '-oCiphers=aes128-cbc -F/tmp/config'],
    ['ssh_options', '-oPermitLocalCommand=yes'],
    ['username', 'fence -oProxyCommand=/tmp/evil'],
    ['ip', '-oProxyCommand=/tmp/evil'],
    ['ip', "192.0.2.1' -x"],
  ])('is refused: %s=%s', (name, value) => {
    expect(problemsOf(name, value)).toHaveLength(1);
  });

  it.each([
    ['ssh_path', 'ssh'],
    ['identity_file', 'key'],
    ['ssh_options', '-t -o KexAlgorithms=+diffie-hellman-group1-sha1'],
    ['username', 'fence@example.com'],
    ['ip', 'fd00::1'],
    ['api_path', '/api/v1'],
    ['systems_uri', '/redfish/v1/Systems/1'],
    ['command_prompt', '> $'],
  ])('is taken: %s=%s', (name, value) => {
    expect(problemsOf(name, value)).toEqual([]);
  });

  it('is handed over as the file that the name stands for', () => {
    expect(withLocalFiles({ ssh_path: 'ssh', identity_file: 'key', ip: 'a' }, programs)).toEqual({
      parameters: { ssh_path: join(folder, 'ssh'), identity_file: join(folder, 'key'), ip: 'a' },
    });
    expect(withLocalFiles({ ssh_path: 'gone' }, programs)).toEqual({ refusal: expect.stringContaining('there is no gone') as string });
  });
});
