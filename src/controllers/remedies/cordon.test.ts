import { describe, expect, it } from 'vitest';
import { CORDON_MARK } from '../../domain/node-fence.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import { CORDON_BY_PRESERVATION } from '../../ports/preservation.ts';
import { CORDON_BY_REMEDY } from '../../ports/remedies.ts';
import { setCordon } from './cordon.ts';

/** What is written when the cordon of a remedy is taken back. */
async function takenBack(annotations: Record<string, string>): Promise<unknown> {
  const node: Node = { metadata: { name: 'a', uid: 'n-1', annotations }, spec: { unschedulable: true }, status: {} };
  const written: unknown[] = [];
  const cluster = {
    get: () => Promise.resolve(node),
    mergePatch: (_resource: unknown, _name: string, patch: unknown) => Promise.resolve(void written.push(patch)),
  };
  await setCordon(cluster as unknown as Pick<Cluster, 'get' | 'mergePatch'>, node, false, 'run-1', () => undefined);
  return written[0];
}

describe('the cordon of a remedy', () => {
  it('is taken back with its mark', async () => {
    expect(await takenBack({ [CORDON_BY_REMEDY]: 'run-1' })).toMatchObject({
      metadata: { annotations: { [CORDON_BY_REMEDY]: null } },
      spec: { unschedulable: null },
    });
  });

  it.each([CORDON_MARK, CORDON_BY_PRESERVATION])('stays where another of us set one after a person had taken ours away: %s', async (other) => {
    const patch = await takenBack({ [CORDON_BY_REMEDY]: 'run-1', [other]: 'true' });
    expect(patch).toMatchObject({ metadata: { annotations: { [CORDON_BY_REMEDY]: null } } });
    expect(patch).not.toHaveProperty('spec');
  });
});
