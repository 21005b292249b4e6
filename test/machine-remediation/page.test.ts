import { describe, expect, it } from 'vitest';
import { ruleLines } from '../../src/controllers/machine-remediation/incident.ts';
import * as names from '../../src/controllers/machine-remediation/names.ts';
import { tableLines } from '../../src/controllers/machine-remediation/table.ts';
import { ANNOTATIONS_BACKUP, LABELS_BACKUP } from '../../src/controllers/shared/baremetal-host/node-backup.ts';
import { OFF_REQUESTED } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { Page } from '../baremetal-host/page.ts';

const PAGE = new Page('machine-remediation.md');
const HELD = new Page('machine-remediation.md', 'test/docs');
const SENTENCES = HELD.rows('The design, sentence by sentence');
const OURS = HELD.rows('What the design leaves open');

describe('docs/machine-remediation.md', () => {
  it('names every sentence of the design', () => {
    expect(SENTENCES.length).toBeGreaterThanOrEqual(19);
    expect(OURS.length).toBeGreaterThanOrEqual(10);
  });

  it('prints the truth table as it is', () => {
    expect(PAGE.rows('The truth table').map((row) => row.join(' | '))).toEqual(tableLines());
  });

  it('prints the rules as they are, in their order', () => {
    expect(PAGE.rows('The rules of an incident').map((row) => row.join(' | '))).toEqual(ruleLines());
  });

  it('names every annotation that is written or read', () => {
    const keys = Object.values(names).filter((value) => typeof value === 'string');
    expect(keys.length).toBeGreaterThanOrEqual(5);
    for (const key of [...keys, ANNOTATIONS_BACKUP, LABELS_BACKUP, OFF_REQUESTED]) expect(PAGE.text).toContain(`\`${key}\``);
  });
});
