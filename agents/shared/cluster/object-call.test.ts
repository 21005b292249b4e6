import { describe, expect, it } from 'vitest';

import { AgentError, type AgentContext, type Target } from '../../../src/ports/agents.ts';
import { ApiStatusError } from '../../../src/ports/api-transport.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { CONFIG_MAPS } from '../../../src/ports/resources.ts';
import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { ConnectedClusters } from './connected-clusters.ts';
import { ObjectCall } from './object-call.ts';

const CONFLICT = new ApiStatusError(409, 'Conflict', 'the object has been modified');

/** One object that somebody else changes right before each of the first so many writes. */
class Contested {
  object: KubeObject = { metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', annotations: {} } };
  readonly bodies: KubeObject[] = [];
  #rivals: number;

  constructor(rivals: number) {
    this.#rivals = rivals;
  }

  get(): Promise<KubeObject> {
    return Promise.resolve(structuredClone(this.object));
  }

  mergePatch(_resource: unknown, _name: string, patch: KubeObject): Promise<KubeObject> {
    this.bodies.push(patch);
    if (this.#rivals > 0) {
      this.#rivals -= 1;
      this.#write({ rival: String(this.#rivals) });
    }
    // As an API server does: a patch without a version is always applied.
    const { resourceVersion, annotations = {} } = patch.metadata;
    if (resourceVersion !== undefined && resourceVersion !== this.object.metadata.resourceVersion) return Promise.reject(CONFLICT);
    this.#write(annotations);
    return this.get();
  }

  edit(): Promise<KubeObject> {
    const clock = new ManualClock();
    const context = { cluster: this as unknown as Cluster, clock } satisfies Partial<AgentContext> as AgentContext;
    const target: Target = {
      plug: '',
      device: 'cluster',
      parameters: {},
      identity: { node: 'a' },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
    };
    return ObjectCall.run(new ConnectedClusters(context), clock, target, { asked: 'edit', kubeconfig: undefined }, async (call) =>
      call.edit(CONFIG_MAPS, await this.get(), ({ metadata: { annotations = {} } }) =>
        annotations['ours'] === undefined ? { metadata: { annotations: { ours: `after rival ${annotations['rival'] ?? 'none'}` } } } : undefined,
      ),
    );
  }

  #write(annotations: Readonly<Record<string, string>>): void {
    const { metadata } = this.object;
    const resourceVersion = String(Number(metadata.resourceVersion) + 1);
    this.object = { metadata: { ...metadata, resourceVersion, annotations: { ...metadata.annotations, ...annotations } } };
  }
}

describe('an object that is edited', () => {
  it('is changed under the version that was read, and under no other', async () => {
    const quiet = new Contested(0);
    expect((await quiet.edit()).metadata.annotations).toEqual({ ours: 'after rival none' });
    expect(quiet.bodies).toEqual([{ metadata: { resourceVersion: '1', annotations: { ours: 'after rival none' } } }]);
  });

  it('is read anew, and planned anew, where somebody else was faster', async () => {
    const contested = new Contested(3);
    expect((await contested.edit()).metadata.annotations).toEqual({ rival: '0', ours: 'after rival 0' });
    expect(contested.bodies.map(({ metadata }) => metadata.resourceVersion)).toEqual(['1', '2', '3', '4']);
  });

  it('is given up where somebody is always faster', async () => {
    const hopeless = new Contested(100);
    const error: unknown = await hopeless.edit().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: 'Refused', cause: CONFLICT });
    expect(hopeless.bodies).toHaveLength(8);
  });
});
