import { describe, expect, it } from 'vitest';
import { parseCron } from './cron.ts';
import { maintenance } from './maintenance.ts';
import type { MaintenanceSettings } from './maintenance.ts';
import { holdOf, node, NOW_MS, view } from './testing/views.ts';
import type { StormNode } from './view.ts';
import { UTC } from './windows.ts';

function ask(settings: Partial<MaintenanceSettings>, members: Partial<StormNode> = {}): ReturnType<typeof holdOf> {
  return holdOf(maintenance({ name: 'maintenance', windows: [], offsetMs: UTC, ...settings }), view([node('n0', members)]));
}

describe('maintenance', () => {
  const KEY = 'example.com/hands-off';
  it.each<[what: string, found: ReturnType<typeof ask>, isHeld: boolean]>([
    ['no mark', ask({}), false],
    ['any mark', ask({}, { marks: [{ source: 'kured', where: 'lock' }] }), true],
    ['the annotation', ask({ annotation: { key: KEY, value: undefined } }, { annotations: { [KEY]: '' } }), true],
    ['the annotation says false', ask({ annotation: { key: KEY, value: undefined } }, { annotations: { [KEY]: 'false' } }), false],
    ['the annotation with its value', ask({ annotation: { key: KEY, value: 'yes' } }, { annotations: { [KEY]: 'yes' } }), true],
    ['the annotation with another value', ask({ annotation: { key: KEY, value: 'yes' } }, { annotations: { [KEY]: 'no' } }), false],
    ['no annotation', ask({ annotation: { key: KEY, value: undefined } }), false],
    ['an annotation by a name of every object', ask({ annotation: { key: 'toString', value: undefined } }, { annotations: {} }), false],
    ['the label', ask({ label: ({ tier }) => tier === 'lab', labelText: 'tier=lab' }, { labels: { tier: 'lab' } }), true],
    ['another label', ask({ label: ({ tier }) => tier === 'lab', labelText: 'tier=lab' }, { labels: { tier: 'shop' } }), false],
  ])('%s', (_what, found, isHeld) => {
    expect(found?.reason).toBe(isHeld ? 'maintenance' : undefined);
  });

  it('names every mark and its source', () => {
    const marks = [
      { source: 'kured', where: 'annotation weave.works/kured-node-lock on DaemonSet kured' },
      { source: 'node-maintenance', where: 'NodeMaintenance repair' },
    ] as const;
    const found = ask({ annotation: { key: KEY, value: undefined } }, { marks, annotations: { [KEY]: 'disk' } });
    expect(found).toEqual({
      reason: 'maintenance',
      message: `it is under maintenance (kured: annotation weave.works/kured-node-lock on DaemonSet kured, node-maintenance: NodeMaintenance repair, annotation ${KEY}=disk on Node n0): ends when the mark is gone`,
    });
  });

  it('holds while a window is open', () => {
    const window = { cron: parseCron('0 11 * * *')!, durationMs: 7_200_000, text: '0 11 * * * 2h' };
    expect(ask({ windows: [window] })).toEqual({
      reason: 'maintenance-window',
      message: 'maintenance window 0 11 * * * 2h is open',
      untilMs: NOW_MS + 3_600_000,
    });
    expect(ask({ windows: [{ ...window, durationMs: 3_600_000 }] })).toBeUndefined();
  });
});
