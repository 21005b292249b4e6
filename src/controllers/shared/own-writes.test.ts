import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../ports/objects.ts';
import { WrittenObjects } from './own-writes.ts';

function written(resourceVersion: string): KubeObject {
  return { metadata: { name: 'a', uid: 'u', resourceVersion } };
}

describe('what this process wrote', () => {
  it('is not kept where the watch has shown it, or what came after it, before its answer: nobody may ask for it again for as long as it stands', () => {
    for (const [shown, isKept] of [
      ['4', true],
      ['5', false],
      ['6', false],
    ] as const) {
      const objects = new WrittenObjects<KubeObject>({ get: () => written(shown) });
      objects.wrote(written('5'));
      expect(objects.isEcho(written('5'))).toBe(isKept);
      expect(objects.newest('a')?.metadata.resourceVersion).toBe(isKept ? '5' : shown);
    }
  });
});
