import { describe, expect, it } from 'vitest';
import * as names from '../../src/controllers/node-remediation/names.ts';
import { readSpec } from '../../src/controllers/node-remediation/spec.ts';
import { Page } from '../baremetal-host/page.ts';
import { API, FINALIZER } from './world.ts';

const PAGE = new Page('node-fence-remediation.md');
const HELD = new Page('node-fence-remediation.md', 'test/docs');
const MEDIK8S = HELD.rows('The contract of medik8s, clause by clause');
const CLUSTER_API = HELD.rows('The contract of Cluster API, clause by clause');
const OURS = HELD.rows('Ours');

describe('docs/node-fence-remediation.md', () => {
  it('names every clause of both contracts', () => {
    expect(MEDIK8S.length).toBeGreaterThanOrEqual(12);
    expect(CLUSTER_API.length).toBeGreaterThanOrEqual(10);
    expect(OURS.length).toBeGreaterThanOrEqual(8);
  });

  it('names every field of the spec, and no other', () => {
    const fields = PAGE.rows('Spec').flatMap(([field = '']) => [...field.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    for (const field of fields) expect(readSpec(API, { [field]: [] }).problems, field).toHaveLength(1);
    expect(fields).toHaveLength(10);
  });

  it('names every phase and mark', () => {
    const phases = PAGE.rows('Status').map(([phase = '']) => phase);
    expect(phases).toEqual(names.PHASES);
    for (const mark of [names.NODE_NAME, names.TIMED_OUT, names.MULTIPLE_TEMPLATES, names.UNHEALTHY, names.NODE_UID, FINALIZER])
      expect(PAGE.text).toContain(`\`${mark}\``);
  });
});
