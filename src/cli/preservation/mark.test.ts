import { describe, expect, it } from 'vitest';
import type { ManagedFields } from '../../ports/objects.ts';
import { describeMark } from './mark.ts';

const PRESERVE = 'node.machine.sapcloud.io/preserve';
const FIELDS = { 'f:metadata': { 'f:annotations': { [`f:${PRESERVE}`]: {} } } };

function node(annotations: Record<string, string>, managedFields?: ManagedFields[]): { metadata: { name: string } } {
  return { metadata: { name: 'a', annotations, ...(managedFields === undefined ? {} : { managedFields }) } as { name: string } };
}

describe('a mark of preservation', () => {
  it('is told with its author, its reason, and the time by the program that wrote it', () => {
    const words = { [PRESERVE]: 'now', 'ha.k8s.io/preserve-reason': 'core dump', 'nodefence.ha.k8s.io/preserve-requested-by': 'now by olga' };
    const managers = [
      { manager: 'kubelet', time: '2026-03-01T12:00:00Z', fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:other': {} } } } },
      { manager: 'kubectl', time: '2026-03-01T10:00:00Z', fieldsV1: FIELDS },
    ];
    expect(describeMark('Node', node(words, managers))).toBe(
      'Node a is marked now, by kubectl, at 2026-03-01T10:00:00Z or before; its author as written there: now by olga; reason: core dump',
    );
  });

  it('says that its time is not kept, where it is not', () => {
    expect(describeMark('Machine', node({ [PRESERVE]: 'when-failed' }))).toBe('Machine a is marked when-failed, when is not kept by this API server');
  });

  it('is none without the annotation', () => {
    expect(describeMark('Node', node({}, [{ manager: 'kubectl', time: '2026-03-01T10:00:00Z', fieldsV1: FIELDS }]))).toBeUndefined();
  });
});
