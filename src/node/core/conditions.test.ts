import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { StandingCondition, WantedCondition } from '../../domain/node-daemon/conditions.ts';
import { othersTypes, wantedConditions } from '../../domain/node-daemon/conditions.ts';
import type { NodeConditions, PostedCondition } from '../../ports/node-conditions.ts';
import type { CheckFound } from '../../ports/node-checks.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { ConditionsPoster } from './conditions.ts';

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };

/** The Node, and who wrote what there. */
class OneNode implements NodeConditions {
  readonly conditions = new Map<string, PostedCondition & { by: string }>();
  readonly posts: PostedCondition[][] = [];
  looks = 0;
  isGone = false;

  standing(): Promise<StandingCondition[]> {
    this.looks += 1;
    if (this.isGone) return Promise.reject(new Error('no answer'));
    return Promise.resolve([...this.conditions.values()]);
  }

  post(conditions: readonly PostedCondition[]): Promise<void> {
    this.posts.push([...conditions]);
    for (const condition of conditions) this.conditions.set(condition.type, { ...condition, by: 'us' });
    return Promise.resolve();
  }

  writtenByOthers(type: string, heartbeat: string): void {
    const words = { status: 'False', reason: 'SharedStorageIsReachable', message: 'm', lastTransitionTime: heartbeat };
    this.conditions.set(type, { type, ...words, lastHeartbeatTime: heartbeat, by: 'node-problem-detector' });
  }
}

describe('conditions', () => {
  let clock: ManualClock;
  let node: OneNode;
  let found: Record<string, CheckFound>;
  let poster: ConditionsPoster;

  beforeEach(async () => {
    vi.clearAllMocks();
    clock = new ManualClock();
    node = new OneNode();
    found = { storage: { health: 'ok', sentence: '1 storage target answered' }, bmc: { health: 'unknown', sentence: 'not checked: no BMC' } };
    poster = new ConditionsPoster({ clock, log, conditions: node }, (): WantedCondition[] => wantedConditions((name) => found[name]));
  });

  const started = async (): Promise<void> => {
    poster.start();
    await clock.advance(10_000);
  };
  const standing = (type: string): (PostedCondition & { by: string }) | undefined => node.conditions.get(type);

  it('are those of which something is known', async () => {
    await started();
    expect([...node.conditions.keys()]).toEqual(['SharedStorageUnreachable']);
    expect(standing('SharedStorageUnreachable')).toEqual({
      type: 'SharedStorageUnreachable',
      status: 'False',
      reason: 'StorageAnswers',
      message: '1 storage target answered',
      lastHeartbeatTime: '2026-01-01T00:00:05Z',
      lastTransitionTime: '2026-01-01T00:00:05Z',
      by: 'us',
    });
  });

  it('that stay as they are have a heartbeat each five minutes, and no transition', async () => {
    await started();
    for (let turn = 0; turn < 60; turn += 1) {
      found['storage'] = { health: 'ok', sentence: `answered ${turn} times` };
      await clock.advance(10_000);
    }
    expect(node.posts.length).toBe(3);
    expect(standing('SharedStorageUnreachable')).toMatchObject({
      lastHeartbeatTime: '2026-01-01T00:10:05Z',
      lastTransitionTime: '2026-01-01T00:00:05Z',
      message: 'answered 59 times',
    });
  });

  it('that change are written at once, with their transition', async () => {
    await started();
    found['storage'] = { health: 'problem', sentence: 'no answer for 5 s: /mnt/shared' };
    await clock.advance(6_000);
    expect(standing('SharedStorageUnreachable')).toMatchObject({ status: 'True', reason: 'StorageLost' });
    expect(standing('SharedStorageUnreachable')?.lastTransitionTime).toBe('2026-01-01T00:00:15Z');
  });

  it('of what is not known any more do not stay as they were, be it by an earlier process', async () => {
    await node.post([
      { type: 'FenceDeviceUnreachable', status: 'True', reason: 'BMCDoesNotAnswer', message: 'x', lastHeartbeatTime: 't', lastTransitionTime: 't' },
    ]);
    await started();
    expect(standing('FenceDeviceUnreachable')).toMatchObject({ status: 'Unknown', reason: 'BMCUnknown' });
  });

  it('that a daemon that was started anew finds as they were keep their transition', async () => {
    const before = { reason: 'StorageAnswers', message: 'x', lastHeartbeatTime: 't', lastTransitionTime: '2025-12-31T00:00:00Z' };
    await node.post([{ type: 'SharedStorageUnreachable', status: 'False', ...before }]);
    await started();
    expect(standing('SharedStorageUnreachable')).toMatchObject({
      lastHeartbeatTime: '2026-01-01T00:00:05Z',
      lastTransitionTime: '2025-12-31T00:00:00Z',
    });
  });

  it('that somebody else writes are left alone, and it is said once', async () => {
    node.writtenByOthers('SharedStorageUnreachable', 'h1');
    found['kdump'] = { health: 'problem', sentence: 'kdump is not armed' };
    await started();
    for (let minute = 0; minute < 60; minute += 1) {
      node.writtenByOthers('SharedStorageUnreachable', `h${minute}`);
      await clock.advance(60_000);
    }
    expect(standing('SharedStorageUnreachable')?.by).toBe('node-problem-detector');
    expect(standing('KdumpNotArmed')?.by).toBe('us');
    expect(node.posts.length).toBeGreaterThan(10);
    expect(node.posts.flat().filter(({ type }) => type === 'SharedStorageUnreachable')).toEqual([]);
    expect(log.info.mock.calls).toEqual([
      ['a condition of the Node is written by somebody else, so it is left alone', { type: 'SharedStorageUnreachable' }],
    ]);
    expect(poster.others).toEqual(['SharedStorageUnreachable']);
  });

  it('that somebody else begins to write are left to it', async () => {
    await started();
    node.writtenByOthers('SharedStorageUnreachable', 'h1');
    found['storage'] = { health: 'problem', sentence: 'lost' };
    await clock.advance(10_000);
    expect(standing('SharedStorageUnreachable')).toMatchObject({ by: 'node-problem-detector', status: 'False' });
  });

  it('of which somebody else sends no heartbeat for half an hour are taken over, and given back', async () => {
    node.writtenByOthers('SharedStorageUnreachable', 'h1');
    await started();
    await clock.advance(1_700_000);
    expect(standing('SharedStorageUnreachable')?.by).toBe('node-problem-detector');
    await clock.advance(500_000);
    expect(standing('SharedStorageUnreachable')?.by).toBe('us');
    node.writtenByOthers('SharedStorageUnreachable', 'h2');
    await clock.advance(1_000_000);
    expect(standing('SharedStorageUnreachable')?.by).toBe('node-problem-detector');
  });

  it('are not taken for those of node-problem-detector, by their reasons', async () => {
    const shipped = ['fast', 'slow'].flatMap((name) => {
      const { conditions, rules } = JSON.parse(readFileSync(new URL(`../../../config/npd/nodefence-${name}.json`, import.meta.url), 'utf8')) as {
        conditions: { type: string; reason: string }[];
        rules: { condition?: string; reason: string }[];
      };
      return [...conditions, ...rules.map(({ condition: type = '', reason }) => ({ type, reason }))].filter(({ type }) => type !== '');
    });
    expect(shipped).toHaveLength(10);
    for (const { type, reason } of shipped) expect(othersTypes([{ type, reason }]), reason).toEqual([type]);
  });

  it('that somebody else removed are there again', async () => {
    await started();
    node.conditions.clear();
    await clock.advance(300_000);
    expect(standing('SharedStorageUnreachable')?.by).toBe('us');
  });

  it('that cannot be written are tried again, and the problem is said', async () => {
    node.isGone = true;
    await started();
    await clock.advance(120_000);
    expect(poster.problem).toBe('conditions of the Node cannot be written: no answer');
    expect(log.warn).toHaveBeenCalledTimes(1);
    expect(node.looks).toBeLessThan(7);
    node.isGone = false;
    await clock.advance(40_000);
    expect(poster.problem).toBeUndefined();
    expect(standing('SharedStorageUnreachable')?.by).toBe('us');
  });

  it('are posted no more after a stop', async () => {
    await started();
    poster.close();
    found['storage'] = { health: 'problem', sentence: 'lost' };
    await clock.advance(600_000);
    expect(node.posts).toHaveLength(1);
  });
});
