import { describe, expect, it } from 'vitest';
import type { Pod } from '../../ports/objects.ts';
import { isOutOfService, NOT_READY, OUT_OF_SERVICE, toleratedMs, tolerates, UNREACHABLE } from './taints.ts';

const pod = (tolerations: Pod['spec']['tolerations']): Pod => ({ metadata: { name: 'p' }, spec: tolerations === undefined ? {} : { tolerations } });
const unreachable = { key: UNREACHABLE, effect: 'NoExecute' } as const;

describe('taints and tolerations', () => {
  it('lets a pod without a toleration not stay at all', () => {
    expect(toleratedMs(pod(undefined), [unreachable])).toBe(0);
  });

  it('lets a pod stay for the shortest of its toleration seconds', () => {
    const tolerations = [
      { key: UNREACHABLE, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: NOT_READY, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 200 },
    ];
    expect(toleratedMs(pod(tolerations), [unreachable])).toBe(300_000);
    expect(toleratedMs(pod(tolerations), [unreachable, { key: NOT_READY, effect: 'NoExecute' }])).toBe(200_000);
    expect(toleratedMs(pod(tolerations), [unreachable, { key: OUT_OF_SERVICE, effect: 'NoExecute' }])).toBe(0);
  });

  it('lets a pod that tolerates everything stay for ever', () => {
    expect(toleratedMs(pod([{ operator: 'Exists' }]), [unreachable])).toBeUndefined();
  });

  it('compares values unless the key need only exist', () => {
    const taint = { key: 'a', value: 'x', effect: 'NoSchedule' } as const;
    expect(tolerates({ key: 'a', value: 'x' }, taint)).toBe(true);
    expect(tolerates({ key: 'a', value: 'y' }, taint)).toBe(false);
    expect(tolerates({ key: 'a', operator: 'Exists', effect: 'NoExecute' }, taint)).toBe(false);
  });

  it('knows an out-of-service node by the key alone', () => {
    const node = { metadata: { name: 'n' }, spec: { taints: [{ key: OUT_OF_SERVICE, effect: 'NoExecute' as const }] }, status: {} };
    expect([isOutOfService(node), isOutOfService(undefined)]).toEqual([true, false]);
  });
});
