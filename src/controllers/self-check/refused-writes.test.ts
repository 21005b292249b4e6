import { describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { NODE_FENCE_REPORTS, NODE_FENCES } from '../../ports/resources.ts';
import { RefusedWrites } from './refused-writes.ts';

const quiet = (): void => undefined;
const FENCE: KubeObject & { spec: object } = { metadata: { name: 'node-fence-a' }, spec: { node: 'a' } };

class Harness {
  readonly events: string[] = [];
  readonly problems: string[] = [];
  words: readonly string[] = [];
  readonly refused = new RefusedWrites({
    nodes: { get: (name) => (name === 'a' ? ({ metadata: { name } } as Node) : undefined) },
    recorder: { event: (about, type, reason) => void this.events.push(`${about.kind ?? ''} ${about.metadata.name} ${type} ${reason}`) },
    metrics: { problem: (reason) => void this.problems.push(reason) },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    onChange: (words) => void (this.words = words),
  });

  async write(
    outcome: Error | undefined,
    object: KubeObject = FENCE,
    resource: typeof NODE_FENCES | typeof NODE_FENCE_REPORTS = NODE_FENCES,
  ): Promise<void> {
    const write = outcome === undefined ? Promise.resolve(object) : Promise.reject(outcome);
    const ended: unknown = await this.refused
      .follow(resource as typeof NODE_FENCES, object, write as Promise<never>)
      .catch((error: unknown) => error);
    expect(ended).toBe(outcome ?? object);
  }
}

const INVALID = new ApiStatusError(422, 'Invalid', 'status.x: unsupported value');
const FORBIDDEN = new ApiStatusError(403, 'Forbidden', 'cannot update');

describe('a status that the server refuses', () => {
  it.each([
    [INVALID, 'kubectl apply -k config/crd'],
    [FORBIDDEN, 'kubectl apply -k config/rbac'],
  ])('is told once, on the Node, with a count and with what mends it: %s', async (error, remedy) => {
    const harness = new Harness();
    for (let count = 0; count < 5; count += 1) await harness.write(error);
    expect(harness.events).toEqual(['Node a Warning StatusRefused']);
    expect(harness.problems).toEqual(['StatusRefused']);
    expect(harness.words).toHaveLength(1);
    expect(harness.words[0]).toContain(remedy);
  });

  it('stands until one is taken, and is told anew after that', async () => {
    const harness = new Harness();
    await harness.write(INVALID);
    await harness.write(undefined);
    expect(harness.words).toEqual([]);
    await harness.write(INVALID);
    expect(harness.events).toHaveLength(2);
  });

  it('is told on the Node of a report, too, and on the object where there is no Node', async () => {
    const harness = new Harness();
    await harness.write(INVALID, { metadata: { name: 'a' } }, NODE_FENCE_REPORTS);
    await harness.write(INVALID, { metadata: { name: 'gone' } }, NODE_FENCE_REPORTS);
    expect(harness.events).toEqual(['Node a Warning StatusRefused', 'NodeFenceReport gone Warning StatusRefused']);
  });

  it.each([new ApiStatusError(409, 'Conflict', ''), new ApiStatusError(503, 'ServiceUnavailable', ''), new TransportError('timeout', '')])(
    'is none where it may be taken next time: %s',
    async (error) => {
      const harness = new Harness();
      await harness.write(error);
      expect([harness.events, harness.problems, harness.words]).toEqual([[], [], []]);
    },
  );

  it('is forgotten with its object', async () => {
    const harness = new Harness();
    await harness.write(INVALID);
    await harness.write(new ApiStatusError(404, 'NotFound', ''));
    expect(harness.words).toEqual([]);
  });

  it('is one of a bounded number', async () => {
    const harness = new Harness();
    for (let count = 0; count < 400; count += 1) await harness.write(INVALID, { metadata: { name: `n${count}` } }, NODE_FENCE_REPORTS);
    expect(harness.words).toHaveLength(256);
  });
});
