import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../kube/client.ts';
import { ScriptedTransport } from '../../kube/testing/scripted-transport.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceController } from './controller.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

describe('a fence controller whose Lease ends between its decision and its write', () => {
  it.each([
    ['sends nothing more', false, ['POST']],
    ['would have sent it under a Lease that is valid', true, ['POST', 'PUT']],
  ])('%s', async (_words, isValid, sent) => {
    const harness = new FenceHarness(new ManualClock());
    const transport = new ScriptedTransport();
    let hasLease = true;
    transport.answer = ({ method }) => {
      // The record of a healthy node is made before it is filled in.
      if (method === 'POST') hasLease = isValid;
      return { status: 200, body: { metadata: { name: 'a', uid: 'u', resourceVersion: '1' } } };
    };
    harness.nodes.items = [nodeOf({ ready: 'True' })];
    const leadership = { epoch: 3, isLeading: true, mayBegin: () => hasLease, actsFromMs: 0 };
    const controller = new FenceController({ ...harness.dependencies, cluster: new ApiClient({ transport }), leadership });
    const ended = await controller.reconcile('a').then(() => 'done', String);
    expect(ended).toContain(isValid ? 'done' : 'the leader lease is not valid any more');
    expect(transport.requests.map(({ method }) => method)).toEqual(sent);
  });
});
