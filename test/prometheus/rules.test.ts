import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { Telemetry } from '../../src/telemetry/telemetry.ts';

const RULES = join(import.meta.dirname, '..', '..', 'config', 'prometheus', 'nodefence-rules.yaml');
const HAS_PROMTOOL = spawnSync('promtool', ['--version']).status === 0;

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}

function promtool(...words: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8', timeout: 60_000 });
  return { status, output: stdout + stderr };
}

describe('the rules for Prometheus', () => {
  it('name metrics that there are, by the labels that they have', () => {
    const telemetry = new Telemetry({ version: 'test', freshness: () => [] });
    const labels = new Map(telemetry.catalogue().map((entry) => [entry.name, entry.labels]));
    telemetry.close();
    const { groups } = parse(readFileSync(RULES, 'utf8')) as Rules;
    const used = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => [...expr.matchAll(/(nodefence_\w+)\{(\w+)=/gu)]));
    expect(used.length).toBeGreaterThanOrEqual(3);
    for (const [, name = '', label = ''] of used) expect(labels.get(name), name).toContain(label);
  });

  it.skipIf(!HAS_PROMTOOL)('are taken by promtool, and fire when they must and not before (Debian: prometheus)', () => {
    expect(promtool('check', 'rules', RULES)).toMatchObject({ status: 0, output: expect.stringContaining('6 rules found') as string });
    expect(promtool('test', 'rules', join(import.meta.dirname, 'rules-test.yaml'))).toMatchObject({ status: 0 });
  });
});
