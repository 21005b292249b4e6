import { beforeEach, describe, expect, it } from 'vitest';

import { installedCluster } from '../../../test/scenarios/installed-cluster.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { RemedyPermission } from './permission.ts';

const STORM: ActiveHold = { policy: 'max-unhealthy', reason: 'max-unhealthy', message: '3 of 4 nodes have failed' };

let clock: ManualClock;
let cluster: Cluster;
let storm: ActiveHold[];

beforeEach(async () => {
  clock = new ManualClock();
  cluster = await installedCluster();
  storm = [];
  await cluster.create(NODES, { metadata: { name: 'a' }, spec: {}, status: {} });
});

function permissionOf(node = 'a', ownNode = 'c'): RemedyPermission {
  return new RemedyPermission({ cluster, clock, stormHolds: () => storm, mode: 'enforce', ownNode }, node);
}

const stop = (name: string, spec: object): Promise<unknown> => cluster.create(NODE_FENCE_STOPS, { metadata: { name }, spec: spec as never });
const REASONED = { reason: 'maintenance' };

describe('the permission of a remedy', () => {
  it('stands where nothing does against it, for as long as the answer is fresh', async () => {
    const permission = permissionOf();
    expect(() => permission.demand(false)).toThrow('was not answered just now');
    expect(await permission.ask()).toEqual([]);
    permission.demand(false);
    await clock.advance(1_501);
    expect(() => permission.demand(false)).toThrow('was not answered just now');
  });

  it('is refused by a stop of the node or of all, also for its recovery, and not by that of another node', async () => {
    await stop('other', { node: 'b', ...REASONED });
    expect(await permissionOf().ask()).toEqual([]);
    await stop('all', { all: true, ...REASONED });
    const permission = permissionOf();
    expect(await permission.ask()).toEqual([{ reason: 'stop', message: 'the stop all is active: maintenance', isPolicy: false }]);
    expect(() => permission.demand(false)).toThrow('held by stop');
    expect(() => permission.demand(true)).toThrow('held by stop');
  });

  it('is refused by a fence that has the node', async () => {
    await cluster.create(NODE_FENCES, { metadata: { name: fenceName('a') }, spec: { node: 'a' } });
    const permission = permissionOf();
    expect(await permission.ask()).toMatchObject([{ reason: 'fence', isPolicy: false }]);
    expect(() => permission.demand(true)).toThrow('held by fence: the fence controller has the node');
  });

  it('is refused by a storm policy, also by one that trips after it was asked, but not for a recovery', async () => {
    const permission = permissionOf();
    expect(await permission.ask()).toEqual([]);
    storm = [STORM];
    expect(() => permission.demand(false)).toThrow('held by max-unhealthy: 3 of 4 nodes have failed');
    permission.demand(true);
    expect(await permission.ask()).toEqual([{ reason: 'max-unhealthy', message: STORM.message, isPolicy: true }]);
  });

  it('is refused for the node of the controller itself, and for the last majority of a control plane', async () => {
    expect(await permissionOf('a', 'a').ask()).toMatchObject([{ reason: 'own-node' }]);
    await cluster.create(NODES, { metadata: { name: 'p', labels: { 'node-role.kubernetes.io/control-plane': '' } }, spec: {}, status: {} });
    expect(await permissionOf('p').ask()).toMatchObject([{ reason: 'control-plane-majority' }]);
  });

  it('does not rest on an answer that came before one that failed', async () => {
    const permission = permissionOf();
    await permission.ask();
    cluster.list = () => Promise.reject(new Error('no answer'));
    await expect(permission.ask()).rejects.toThrow('no answer');
    expect(() => permission.demand(false)).toThrow('was not answered just now');
  });
});
