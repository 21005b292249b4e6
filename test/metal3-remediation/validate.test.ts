import { expect, it } from 'vitest';
import { metal3RemediationWarnings } from '../../src/cli/validate/metal3-remediation.ts';
import { requestersOf } from '../../src/cli/validate/requesters.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { NAMESPACE, ShellWorld, TEMPLATES } from './shell-world.ts';

it('validate tells what is wrong in a template, and nothing of one that is right', { timeout: 60_000 }, async () => {
  const world = await ShellWorld.create();
  const { operator, transport } = world.own;
  for (const [name, timeoutSeconds] of [
    ['short', 5],
    ['right', 300],
  ] as const)
    await operator.create(TEMPLATES, { metadata: { name, namespace: NAMESPACE }, spec: { template: { spec: { strategy: { timeoutSeconds } } } } });
  const found = await metal3RemediationWarnings({ transport, cluster: operator, clock: world.clock });
  expect(found.map(({ severity, where, message }) => `${severity} ${where} ${message}`)).toEqual([
    `warning Metal3RemediationTemplate ${NAMESPACE}/short spec.strategy.timeoutSeconds: 5 is less than 100`,
  ]);
});

it.each([
  [true, 1],
  [false, 0],
])(
  'validate knows the templates by which fences are asked for, where nobody serves the hosts (%s)',
  { timeout: 60_000 },
  async (isUnserved, count) => {
    const world = await ShellWorld.create({ isUnserved });
    const { operator, transport } = world.own;
    const spec = { template: { spec: { strategy: { timeoutSeconds: 300 } } } };
    await operator.create(TEMPLATES, { metadata: { name: 'right', namespace: NAMESPACE }, spec });
    if (!isUnserved) {
      const renewTime = '2027-01-01T00:00:00.000000Z';
      await operator.create(LEASES, { metadata: { name: 'baremetal-operator', namespace: 'default' }, spec: { holderIdentity: 'bmo', renewTime } });
    }
    const found = await requestersOf({ transport, cluster: operator, clock: world.clock });
    expect(found).toEqual([{ where: `Metal3RemediationTemplate ${NAMESPACE}/right`, powerOffTimeoutMs: 300_000 }].slice(0, count));
  },
);
