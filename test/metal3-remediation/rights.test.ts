import { expect, it } from 'vitest';
import { REMEDIATE_MACHINE } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { HOST_MACHINES } from '../../src/testbed/operators/host-fleet.ts';
import { METAL3_REMEDIATION_ACCESS } from '../../src/manifests/metal3-remediation-access.ts';
import { grantsOf, refusalsIn, rightsOf, rightsUsed } from '../installation/rights.ts';
import { NAMESPACE, ShellWorld, TEMPLATES } from './shell-world.ts';
import { MINUTE_MS } from './world.ts';

it(
  'the role of Metal3Remediation grants nothing that is not used: a power cycle that helps, and one that does not',
  { timeout: 60_000 },
  async () => {
    const world = await ShellWorld.create();
    const { operator, trace } = world.own;
    const spec = { template: { spec: { strategy: { retryLimit: 0, timeoutSeconds: 100 } } } };
    await operator.create(TEMPLATES, { metadata: { name: 't', namespace: NAMESPACE }, spec });
    const mark = { metadata: { annotations: { [REMEDIATE_MACHINE]: '' } } };
    await operator.mergePatch(HOST_MACHINES, 'm', mark, { namespace: NAMESPACE });
    world.start();
    await world.request();
    await world.pass(4 * MINUTE_MS);
    await world.delete();
    await world.pass(MINUTE_MS);
    world.isBroken = true;
    await world.request({ strategy: { retryLimit: 0, timeoutSeconds: 100 } });
    await world.pass(8 * MINUTE_MS);
    const grants = grantsOf(METAL3_REMEDIATION_ACCESS);
    const used = rightsUsed(trace, grants);
    await world.end();
    // Asked for by config/guards alone.
    expect(rightsOf(grants).filter((right) => !used.has(right))).toEqual(['cluster: restore nodes']);
    expect(refusalsIn(trace)).toEqual([]);
  },
);
