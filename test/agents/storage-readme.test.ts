import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { inputFromFiles } from '../../src/cli/validate/files.ts';
import { validate } from '../../src/cli/validate/validation.ts';
import { readmeOf, yamlOf } from './readme.ts';

const SAMPLE = yamlOf(readmeOf('storage'));
const CONFIG = SAMPLE.slice(SAMPLE.lastIndexOf('---'));

/** What `nodefence validate` says is wrong. */
function errorsOf(yaml: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-storage-'));
  try {
    writeFileSync(join(folder, 'sample.yaml'), yaml);
    const { report } = validate(inputFromFiles([folder], 'nodefence-system'), standardRegistry(), []);
    expect(report.nodes.length).toBeGreaterThan(0);
    return report.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const another = (address: string): string => CONFIG.replaceAll('worker-1', 'worker-2').replaceAll('10.0.0.5', address);

describe('the configuration that the page of storage shows', () => {
  it('serves a second node on the same template', () => {
    expect(errorsOf(`${SAMPLE}${another('10.0.0.6')}`)).toEqual([]);
  });

  it('is refused for a second node that names the plug of the first', () => {
    expect(errorsOf(`${SAMPLE}${another('10.0.0.5')}`).join()).toContain('also switched for node worker-');
  });

  it('serves a node with several exports, each with a plug of its own', () => {
    const text = SAMPLE.replace('isolation=cordon shut-out', 'isolation=cordon shut-out shut-out-2').replace(
      'recovery=uncordon let-in',
      'recovery=uncordon let-in let-in-2',
    );
    const method = (name: string, more: string): string =>
      `  ${name}: |-\n    template=fence-method-template-filer\n    plug=10.0.0.5:vol2\n    client=10.0.0.5\n    target=/srv/vol2\n${more}`;
    const second = [
      method('fence-method-shut-out-2', '    storage=filer-2\n    storage_match=nfs:192.0.2.40:/srv/vol2\n    action=off\n'),
      method('fence-method-let-in-2', '    action=on\n'),
    ];
    expect(errorsOf(`${text}${second.join('')}`)).toEqual([]);
  });
});
