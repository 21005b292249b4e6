import { describe, expect, it } from 'vitest';
import { machineFacts } from '../../src/controllers/preservation/machine-facts.ts';
import { CORDON_MARK, PRESERVED_TAINT } from '../../src/controllers/preservation/names.ts';
import { patchOf } from '../../src/controllers/preservation/patch.ts';
import { WatchedFacts } from '../../src/controllers/preservation/watched-facts.ts';
import { Writer } from '../../src/controllers/preservation/write.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { ConfigMap, Node } from '../../src/ports/objects.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { NOW_MS } from './world.ts';

const TARGET = { kind: 'Node', name: 'a', uid: 'uid-a' } as const;

function nodeOf(spec: Node['spec'], annotations: Record<string, string> = {}): Node {
  return { metadata: { name: 'a', uid: 'uid-a', resourceVersion: '7', annotations }, spec, status: {} };
}

describe('one write', () => {
  it('takes its cordon back but for one that a remedy set after a person had uncordoned', () => {
    const node = nodeOf({ unschedulable: true }, { [CORDON_MARK]: 'true', 'nodefence.ha.k8s.io/cordoned-by-remedy': 'run-1' });
    const patch = patchOf({ kind: 'cordon', target: TARGET, isCordoned: false }, node, NOW_MS);
    expect(patch).toMatchObject({ body: { metadata: { annotations: { [CORDON_MARK]: null } } } });
    expect(patch).not.toMatchObject({ body: { spec: {} } });
  });

  it('never takes over a cordon of somebody else, and never takes one back', () => {
    expect(patchOf({ kind: 'cordon', target: TARGET, isCordoned: true }, nodeOf({ unschedulable: true }), NOW_MS)).toBe('conflict');
    expect(patchOf({ kind: 'cordon', target: TARGET, isCordoned: false }, nodeOf({ unschedulable: true }), NOW_MS)).toBe('conflict');
    expect(
      patchOf({ kind: 'cordon', target: TARGET, isCordoned: false }, nodeOf({ unschedulable: true }, { [CORDON_MARK]: 'true' }), NOW_MS),
    ).toEqual({
      body: { metadata: { annotations: { [CORDON_MARK]: null }, uid: 'uid-a', resourceVersion: '7' }, spec: { unschedulable: null } },
    });
  });

  it('leaves the taints of others where they are', () => {
    const other = { key: 'maintenance', effect: 'NoSchedule' } as const;
    const patch = patchOf({ kind: 'taint', target: TARGET, isPresent: true }, nodeOf({ taints: [other] }), NOW_MS);
    expect(patch).toMatchObject({ body: { spec: { taints: [other, { key: PRESERVED_TAINT, effect: 'NoSchedule' }] } } });
    const both = nodeOf({ taints: [other, { key: PRESERVED_TAINT, effect: 'NoSchedule' }] });
    expect(patchOf({ kind: 'taint', target: TARGET, isPresent: false }, both, NOW_MS)).toMatchObject({ body: { spec: { taints: [other] } } });
    expect(patchOf({ kind: 'taint', target: TARGET, isPresent: true }, both, NOW_MS)).toBe('done');
  });

  it('of an annotation that has changed meanwhile is none', () => {
    const changes = [{ key: 'k', was: 'one', to: 'two' }];
    expect(patchOf({ kind: 'annotate', target: TARGET, changes }, nodeOf({}, { k: 'three' }), NOW_MS)).toBe('conflict');
  });

  it('moves lastTransitionTime of the condition with its status only', () => {
    const to = { status: 'True', reason: 'Preserved by user.', message: 'longer' } as const;
    const was = { status: 'True', reason: 'Preserved by user.', message: 'long' } as const;
    const standing = { ...nodeOf({}), status: { conditions: [{ type: 'Preserved', ...was, lastTransitionTime: 'long ago' }] } };
    const patch = patchOf({ kind: 'condition', target: TARGET, was, to }, standing, NOW_MS);
    expect(patch).toMatchObject({ subresource: 'status', body: { status: { conditions: [{ ...to, lastTransitionTime: 'long ago' }] } } });
  });

  it('beside a real MCM is refused unless it is a request, whatever was decided', async () => {
    const writer = new Writer({ mode: () => 'observe' } as never);
    await expect(writer.perform({ kind: 'taint', target: TARGET, isPresent: true })).rejects.toThrow('is a defect');
    await expect(writer.perform({ kind: 'annotate', target: TARGET, changes: [{ key: 'else', was: undefined, to: 'x' }] })).rejects.toThrow('defect');
  });
});

describe('the deletion of a Machine', () => {
  it.each([
    [true, ['MachineDeleted']],
    [false, []],
  ])('is told when it was one (%s), and not of a Machine that is gone already', async (isThere, expected) => {
    const told: string[] = [];
    const machine = { metadata: { name: 'm', namespace: 'n', uid: 'uid-m', resourceVersion: '1' } };
    const side = {
      cluster: { list: () => Promise.resolve([]), remove: () => Promise.resolve(isThere) },
      recorder: { event: (_about: unknown, _type: string, reason: string) => told.push(reason) },
    };
    const cache = { objectOf: () => machine, machine: () => undefined };
    const writer = new Writer({ clock: new ManualClock(), mode: () => 'own', nodes: side, machines: side, cache } as never);
    const target = { kind: 'Machine', name: 'm', namespace: 'n', uid: 'uid-m' } as const;
    const event = { type: 'Normal', reason: 'MachineDeleted', message: 'it has no node' } as const;
    const outcome = await writer.perform({ kind: 'delete-machine', target, event }).catch((error: unknown) => error);
    expect(told).toEqual(expected);
    expect(outcome instanceof Error).toBe(!isThere);
  });
});

describe('what is read of a watch', () => {
  const map = (resourceVersion: string, word: string): ConfigMap => ({ metadata: { name: 'a', uid: 'u', resourceVersion }, data: { word } });

  it('is not turned back by versions that our own writes have replaced', () => {
    const quiet = (): void => undefined;
    const cache = new ObjectCache<ConfigMap>({}, { debug: quiet, info: quiet, warn: quiet, error: quiet });
    const told: (string | undefined)[] = [];
    const watched = new WatchedFacts(
      cache,
      ({ data }) => ({ word: data?.['word'] }),
      (_key, _before, after) => told.push(after?.word),
    );
    watched.start();
    cache.put(map('1', 'one'));
    watched.wrote(map('2', 'two'));
    watched.wrote(map('3', 'three'));
    cache.put(map('2', 'two'));
    expect(watched.get('a')?.facts).toEqual({ word: 'three' });
    cache.put(map('3', 'three'));
    cache.put(map('4', 'three'));
    cache.put(map('5', 'five'));
    expect(watched.get('a')?.object.metadata.resourceVersion).toBe('5');
    cache.remove('a');
    expect(told).toEqual(['one', 'two', 'three', 'five', undefined]);
  });
});

describe('what is read of a Machine', () => {
  it.each([
    ['72h0m0s', 72 * 3_600_000],
    ['1.5h', 5_400_000],
    ['90s', 90_000],
    ['soon', undefined],
    ['', undefined],
  ])('its machinePreserveTimeout %j', (machinePreserveTimeout, ms) => {
    expect(machineFacts({ metadata: { name: 'a' }, spec: { machinePreserveTimeout } }).preserveTimeoutMs).toBe(ms);
  });

  it('a phase that is not known yet is no reason to do anything to it', () => {
    expect(machineFacts({ metadata: { name: 'a' }, status: { currentStatus: { phase: 'Dreaming' } } }).phase).toBe('Pending');
  });
});
