import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { PLAIN } from '../../src/cli/commands/terminal/ink.ts';
import { inputFromFiles } from '../../src/cli/validate/files.ts';
import { reportObject } from '../../src/cli/validate/report.ts';
import { reportText } from '../../src/cli/validate/report-text.ts';
import { validate } from '../../src/cli/validate/validation.ts';
import { DEADLOCK } from '../remedies/configurations.ts';

function validated(text: string): { text: string; object: object } {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-validate-'));
  try {
    writeFileSync(join(folder, 'a.yaml'), text);
    const { report } = validate(inputFromFiles([join(folder, 'a.yaml')], 'nodefence-system'), standardRegistry(), []);
    return { text: reportText(report, PLAIN), object: reportObject(report) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('nodefence validate -f of remedies', () => {
  it('says how many Configurations it read', () => {
    const { text, object } = validated(DEADLOCK);
    expect(text).toContain('a.yaml: 0 nodes, 1 Configuration of remedies, 0 errors');
    expect(object).toMatchObject({ valid: true, remedies: 1 });
  });

  it('counts none that is left out for an error', () => {
    const { text } = validated(DEADLOCK.replace('remedy1: [{name: repair}', 'remedy1: [{name: none}'));
    expect(text).toMatch(/0 Configurations of remedies, [1-9]\d* errors?/u);
  });

  it('says nothing of them where there are none', () => {
    const { text } = validated('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fence-config}\ndata: {config.properties: ""}\n');
    expect(text).not.toContain('of remedies');
  });
});
