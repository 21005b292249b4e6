import { expect, it } from 'vitest';
import { requestersOf } from '../../src/cli/validate/requesters.ts';
import { NODE_FENCE_REMEDIATION } from '../../src/ports/remediation.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';

const { templates } = NODE_FENCE_REMEDIATION;

it('validate knows the time for the off of each template, said or not, and needs none to be installed', { timeout: 60_000 }, async () => {
  const world = await ShellWorld.create({ isInstalled: false });
  const { operator, transport } = world.own;
  const asked = { transport, cluster: operator, clock: world.clock };
  expect(await requestersOf(asked)).toEqual([]);
  await world.install();
  for (const [name, spec] of [
    ['said', { powerOffTimeoutSeconds: 120 }],
    ['by-its-timeout', { timeoutSeconds: 60 }],
    ['unsaid', {}],
  ] as const)
    await operator.create(templates, { metadata: { name, namespace: NAMESPACE }, spec: { template: { spec } } });
  expect((await requestersOf(asked)).map(({ where, powerOffTimeoutMs }) => [where, powerOffTimeoutMs])).toEqual([
    [`NodeFenceRemediationTemplate ${NAMESPACE}/by-its-timeout`, 60_000],
    [`NodeFenceRemediationTemplate ${NAMESPACE}/said`, 120_000],
    [`NodeFenceRemediationTemplate ${NAMESPACE}/unsaid`, 600_000],
  ]);
});
