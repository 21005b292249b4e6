import { describe, expect, it } from 'vitest';
import { NODE_FENCES, NODES } from '../ports/resources.ts';
import { ApiClient } from './client.ts';
import { pruneFor } from './prune.ts';
import { listOf, ScriptedTransport } from './testing/scripted-transport.ts';

const BARE = { metadata: { name: 'a', uid: 'u', resourceVersion: '7' } };
const EMPTY = { ...BARE, spec: {}, status: { nodeInfo: { bootID: '', systemUUID: '', machineID: 'm' } } };

describe('a Node that no kubelet has spoken for', () => {
  const transport = new ScriptedTransport();
  const client = new ApiClient({ transport });

  it.each([
    ['without spec and status', BARE, {}],
    ['with empty IDs', EMPTY, { nodeInfo: { machineID: 'm' } }],
  ])('%s has both parts and no ID, got, listed and watched', async (_how, node, status) => {
    const whole = { ...BARE, apiVersion: 'v1', kind: 'Node', spec: {}, status };
    transport.answer = ({ path }) => ({ body: path.endsWith('/nodes') ? listOf('9', [node]) : node });
    expect(await client.get(NODES, 'a')).toEqual(whole);
    expect(await client.list(NODES)).toEqual([whole]);
    expect(pruneFor(NODES)({ ...node, apiVersion: 'v1', kind: 'Node' } as never)).toEqual(whole);
  });

  it('keeps the IDs that it has', async () => {
    const nodeInfo = { bootID: 'b', systemUUID: 's', machineID: 'm' };
    transport.answer = () => ({ body: { ...BARE, status: { nodeInfo } } });
    expect((await client.get(NODES, 'a'))?.status).toEqual({ nodeInfo });
  });
});

it('a NodeFence says when which part of it was written: by that a renewal is known to be newer than a proof', async () => {
  const managedFields = [{ manager: 'nodefence', subresource: 'status', time: '2026-01-01T00:00:00Z' }];
  const transport = new ScriptedTransport();
  const client = new ApiClient({ transport });
  transport.answer = () => ({ body: { ...BARE, metadata: { ...BARE.metadata, managedFields }, spec: { node: 'a' } } });
  expect((await client.get(NODE_FENCES, 'a'))?.metadata.managedFields).toEqual(managedFields);
});
