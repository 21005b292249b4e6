import { describe, expect, it } from 'vitest';
import * as names from '../../src/controllers/machine-health-check/names.ts';
import { Page } from '../baremetal-host/page.ts';
import { DIFFERENT } from './differences.ts';

const PAGE = new Page('machine-health-check.md');
const HELD = new Page('machine-health-check.md', 'test/docs');

const OURS = ['What upstream does wrong, and we do not', 'What the proposal leaves open', 'OpenShift', 'How it is done'].flatMap((heading) =>
  HELD.rows(heading).map(([sentence = '', held = '']) => [heading, sentence, held]),
);
const SENTENCES = HELD.rows('The proposal, sentence by sentence');

describe('docs/machine-health-check.md', () => {
  it('names every sentence of the proposal that asks for something, and every defect that is not copied', () => {
    expect(SENTENCES.length).toBeGreaterThanOrEqual(44);
    expect(OURS.length).toBeGreaterThanOrEqual(25);
  });

  it('lists exactly the cases in which we differ', () => {
    const listed = PAGE.rows('Where we differ from the released controllers').map(([id = '', _released, reason = '']) => [id, reason]);
    expect(listed).toEqual([...DIFFERENT].map(([id, { reason }]) => [id, reason]));
  });

  it('names every annotation, label and condition that is written or read', () => {
    const conditions = [names.HEALTH_CHECK_SUCCEEDED, names.OWNER_REMEDIATED, names.EXTERNALLY_REMEDIATED, names.REMEDIATION_ALLOWED, names.PAUSED];
    const keys = Object.values(names).filter((value) => typeof value === 'string' && value.includes('/'));
    expect(keys.length).toBeGreaterThanOrEqual(9);
    for (const key of [...keys, ...conditions, names.TEMPLATE_AVAILABLE, names.REQUEST_AVAILABLE]) expect(PAGE.text).toContain(`\`${String(key)}\``);
  });
});
