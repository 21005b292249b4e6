import { describe, expect, it } from 'vitest';
import * as names from '../../src/controllers/metal3-remediation/names.ts';
import { ANNOTATIONS_BACKUP, LABELS_BACKUP } from '../../src/controllers/shared/baremetal-host/node-backup.ts';
import { REMEDIATE_MACHINE } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { Page } from '../baremetal-host/page.ts';
import { DIFFERENT } from './differences.ts';
import { API } from './world.ts';

const PAGE = new Page('metal3-remediation.md');
const HELD = new Page('metal3-remediation.md', 'test/docs');
const PHASES = HELD.rows('The phases').map(([phase = '', what = '', held = '']) => [`${phase}: ${what}`, held]);
const SENTENCES = HELD.rows('The proposal, sentence by sentence');
const RUNNING = HELD.rows('How it runs');
const OURS = HELD.rows('What Metal3 does otherwise');

describe('docs/metal3-remediation.md', () => {
  it('names every phase and sentence', () => {
    expect(PHASES.length).toBeGreaterThanOrEqual(8);
    expect(SENTENCES.length).toBeGreaterThanOrEqual(9);
    expect(RUNNING.length).toBeGreaterThanOrEqual(13);
    expect(OURS.length).toBeGreaterThanOrEqual(14);
  });

  it('lists exactly the cases in which we differ', () => {
    expect(PAGE.rows('Where we differ in a case')).toEqual([...DIFFERENT].map(([id, { reason }]) => [id, reason]));
  });

  it('names every mark that is written or read', () => {
    const marks = [names.UNHEALTHY, names.RELEASE, names.HOLD_VALUE, names.OUT_OF_SERVICE.key, names.finalizerOf(API), names.holdKeyOf('<uid>')];
    for (const mark of [...marks, ANNOTATIONS_BACKUP, LABELS_BACKUP, REMEDIATE_MACHINE]) expect(PAGE.text).toContain(`${mark}\``);
  });
});
