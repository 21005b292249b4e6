import { expect, it } from 'vitest';
import { metal3RemediationWarnings } from '../../src/cli/validate/metal3-remediation.ts';
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
