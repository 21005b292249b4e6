import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inputFromFiles } from './files.ts';

it('Nodes of files have no empty IDs, as those of a cluster have none: two that no kubelet has spoken for are not one machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-files-'));
  try {
    const path = join(folder, 'nodes.yaml');
    const node = (name: string, info: string): string => `{kind: Node, metadata: {name: ${name}}, status: {nodeInfo: ${info}}}`;
    writeFileSync(
      path,
      `${node('a', "{bootID: '', systemUUID: '', machineID: m}")}\n---\n${node('b', '{bootID: x, systemUUID: u, machineID: m}')}\n`,
    );
    expect(inputFromFiles([path], 'nodefence-system').nodes?.map(({ status }) => status.nodeInfo)).toEqual([
      { machineID: 'm' },
      { bootID: 'x', systemUUID: 'u', machineID: 'm' },
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
