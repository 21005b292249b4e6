import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../kube/client.ts';
import { ScriptedTransport } from '../../kube/testing/scripted-transport.ts';
import { failureOf } from '../../ports/jobs.ts';
import { NODES, PODS } from '../../ports/resources.ts';
import { gatedWrites, conflictUnless, notSentUnless } from './gated-cluster.ts';
import { Conflict } from './conflict.ts';

const NODE = { metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, spec: {}, status: {} };

function scene(ask: () => void): { transport: ScriptedTransport; writes: (beforeSend?: () => void) => (() => Promise<unknown>)[] } {
  const transport = new ScriptedTransport();
  transport.answer = () => ({ status: 200, body: NODE });
  const gate = gatedWrites(ask);
  const client = new ApiClient({ transport });
  const cluster = gate(client);
  expect(gate(client)).toBe(cluster);
  const writes = (beforeSend?: () => void): (() => Promise<unknown>)[] => [
    () => cluster.create(NODES, NODE, { beforeSend }),
    () => cluster.replace(NODES, NODE, { beforeSend }),
    () => cluster.replaceStatus(NODES, NODE, { beforeSend }),
    () => cluster.mergePatch(NODES, 'a', {}, { beforeSend }),
    () => cluster.remove(NODES, 'a', { beforeSend }),
    () => cluster.remove(PODS, 'web-0', { namespace: 'web' }),
    () => cluster.evict('web-0', 'web', { beforeSend }),
  ];
  return { transport, writes };
}

describe('the writes of one controller', () => {
  it('are all held back where it may not write when their bytes are to leave', async () => {
    const { transport, writes } = scene(conflictUnless(() => false));
    for (const write of writes()) await expect(write()).rejects.toBeInstanceOf(Conflict);
    expect(transport.requests).toEqual([]);
  });

  it('leave where it may, and not where the write itself says no', async () => {
    let isFree = true;
    const own = (): void => {
      if (!isFree) throw new Error('a stop stands');
    };
    const { transport, writes } = scene(conflictUnless(() => true));
    for (const write of writes(own)) await write();
    expect(transport.requests.map(({ method }) => method)).toEqual(['POST', 'PUT', 'PUT', 'PATCH', 'DELETE', 'DELETE', 'POST']);
    isFree = false;
    const [create] = writes(own);
    await expect(create?.()).rejects.toThrow('a stop stands');
  });

  it('of a fence were not sent, which is no failure of its step; what the write asks for itself is not asked', async () => {
    const { writes } = scene(notSentUnless(() => false));
    let asked = 0;
    const [create] = writes(() => void (asked += 1));
    const error: unknown = await create?.().catch((thrown: unknown) => thrown);
    expect(failureOf(error).result).toBe('not-sent');
    expect(asked).toBe(0);
  });
});
