import { describe, expect, it } from 'vitest';
import { FenceHarness, nodeOf } from '../../controllers/fence/testing/harness.ts';
import { LEADER_DEVICE_ADDRESSES } from '../../manager/composition.ts';
import type { ConfigMap, Node } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { plannerOf } from './explain.ts';
import { listed } from './listed-cluster.ts';

const BMCS: Readonly<Record<string, string>> = { a: '192.0.2.1', b: '192.0.2.2' };

function named(name: string): Node {
  const labels = { rack: 'r1', bmc: BMCS[name] ?? '' };
  const nodeInfo = { bootID: `boot-${name}`, systemUUID: `4c4c4544-0042-4210-8034-b4c04f4d373${name}` };
  return { metadata: { name, uid: `uid-${name}`, labels }, spec: {}, status: { ...nodeOf({ ready: 'True' }).status, nodeInfo } };
}

/** Errors of the plan of node `a`, whose method says this, where the leader calls these addresses only. */
function errorsOf(method: string, addresses?: string): string[] {
  const clock = new ManualClock();
  const renewTime = new Date(clock.wallMs()).toISOString();
  const annotations = addresses === undefined ? {} : { [LEADER_DEVICE_ADDRESSES]: addresses };
  const lease = { metadata: { name: 'leader', annotations }, spec: { holderIdentity: 'pod-1', renewTime, leaseDurationSeconds: 15 } };
  const data = {
    'config.properties': 'node_selector=rack=r1\npower_management=off',
    'fence-method-off': `agent_name=redfish\naction=off\nsecret=bmc\n${method}`,
  };
  const configMaps = listed<ConfigMap>([{ metadata: { name: 'fence-config-rack', namespace: 'ns' }, data }]);
  const { cluster } = new FenceHarness(clock).dependencies;
  const access = { clock, cluster, namespace: 'ns' } as unknown as ClusterAccess;
  const fleet = listed([named('a'), named('b')]);
  return plannerOf(access, { configMaps, leader: { lease }, fleet })
    .planFor(named('a'))
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ message }) => message);
}

describe('the plan that explain and plan show', () => {
  it('has no error where the leader finds none', () => {
    expect(errorsOf('ip={label:bmc}', '192.0.2.0/24')).toEqual([]);
  });

  it('is refused where its plug is another node’s machine, or is switched for two nodes of its group, as the leader does', () => {
    expect(errorsOf('ip={label:bmc}\nplug=b')).toEqual(expect.arrayContaining([expect.stringContaining('is the machine of node b')]));
    expect(errorsOf('ip=192.0.2.1')).toEqual([expect.stringContaining('for several nodes')]);
  });

  it('is refused where the leader does not call that address', () => {
    expect(errorsOf('ip={label:bmc}', '198.51.100.0/24')).toEqual([expect.stringContaining('--device-addresses')]);
  });
});
