import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as names from '../../src/controllers/machine-health-check/names.ts';
import { DIFFERENT } from './differences.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/machine-health-check.md`, 'utf8');

/** The rows of the tables under one heading. */
function rows(heading: string): string[][] {
  const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(PAGE) ?? [];
  const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| --'));
  const cells = lines.map((line) => line.replace(/^\| | *\|$/g, '').split(' | '));
  return cells.map((row) => row.map((cell) => cell.trim())).slice(1);
}

const OURS = ['What upstream does wrong, and we do not', 'What the proposal leaves open', 'OpenShift', 'How it is done'].flatMap((heading) =>
  rows(heading).map(([sentence = '', held = '']) => [heading, sentence, held]),
);
const SENTENCES = rows('The proposal, sentence by sentence');

describe('docs/machine-health-check.md', () => {
  it('names every sentence of the proposal that asks for something, and every defect that is not copied', () => {
    expect(SENTENCES.length).toBeGreaterThanOrEqual(44);
    expect(OURS.length).toBeGreaterThanOrEqual(25);
  });

  it('lists exactly the cases in which we differ', () => {
    const listed = rows('Where we differ from the released controllers').map(([id = '', _released, reason = '']) => [id, reason]);
    expect(listed).toEqual([...DIFFERENT].map(([id, { reason }]) => [id, reason]));
  });

  it('names every annotation, label and condition that is written or read', () => {
    const conditions = [names.HEALTH_CHECK_SUCCEEDED, names.OWNER_REMEDIATED, names.EXTERNALLY_REMEDIATED, names.REMEDIATION_ALLOWED, names.PAUSED];
    const keys = Object.values(names).filter((value) => typeof value === 'string' && value.includes('/'));
    expect(keys.length).toBeGreaterThanOrEqual(9);
    for (const key of [...keys, ...conditions, names.TEMPLATE_AVAILABLE, names.REQUEST_AVAILABLE]) expect(PAGE).toContain(`\`${String(key)}\``);
  });
});
