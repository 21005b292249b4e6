import { describe, expect, it } from 'vitest';
import { remediesFor } from './reach.ts';
import type { RemedyConfiguration } from './configuration.ts';
import { aThreshold } from './testing/thresholds.ts';
import type { Threshold } from './configuration.ts';

function configuration(name: string, label: string, thresholds: Threshold[]): RemedyConfiguration {
  return { name, where: name, selects: (labels) => Object.hasOwn(labels, label), thresholds, alarms: [] };
}

const UNKNOWN = aThreshold({ id: 'Ready=Unknown', conditionType: 'Ready', trigger: { kind: 'status', statuses: ['Unknown'] } });
const NOT_READY = aThreshold({ id: 'Ready=False', conditionType: 'Ready', trigger: { kind: 'status', statuses: ['False', 'Unknown'] } });
const DISK = aThreshold({ id: 'DiskPressure=True', conditionType: 'DiskPressure' });
const FLAP = aThreshold({ id: 'DiskPressure~flap', conditionType: 'DiskPressure', trigger: { kind: 'flap', changes: 3, windowMs: 1000 } });

describe('the Configurations of a node', () => {
  it('are those that select it', () => {
    const found = remediesFor([configuration('a', 'x', [DISK]), configuration('b', 'y', [UNKNOWN])], { y: '' });
    expect(found).toEqual({ thresholds: [UNKNOWN], overlaps: [], alarms: [] });
  });

  it('leave out on both sides what two of them answer, and nothing else', () => {
    const [one, two] = [configuration('a', 'x', [NOT_READY, DISK]), configuration('b', 'y', [UNKNOWN, FLAP])];
    const found = remediesFor([one, two], { x: '', y: '' });
    expect(found.thresholds).toEqual([DISK, FLAP]);
    expect(found.overlaps).toEqual([{ condition: 'Ready Unknown', configurations: [one, two] }]);
  });
});
