import { describe, expect, it } from 'vitest';
import type { ManagerFacts } from '../../config/preservation-mode.ts';
import { managerWarnings, poolProblems } from './preservation.ts';

const FACTS: ManagerFacts = {
  nowMs: 0,
  isServed: true,
  isReadable: true,
  definition: { isOurs: false, hasExpiryField: true },
  leases: [],
  deployments: [],
  machines: [],
  unseen: [],
};
const MCM = { deployments: [{ name: 'machine-controller-manager', namespace: 's', replicas: 1 }] };

describe('nodefence validate about preservation', () => {
  it('tells what is wrong in the pools, with key and line', () => {
    const data = { 'pools.yaml': 'workers:\n  - name: a\n    autoPreserveFailedMachineMax: many\n' };
    const [problem, ...more] = poolProblems({ configMaps: [{ name: 'preservation-pools', data, labels: undefined }] });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ severity: 'error', where: 'ConfigMap preservation-pools, key pools.yaml, line 3' });
    expect(poolProblems({ configMaps: [] })).toEqual([]);
  });

  it('warns of a definition that drops the expiry', () => {
    const [warning] = managerWarnings({ ...FACTS, definition: { isOurs: false, hasExpiryField: false } }, {});
    expect(warning).toMatchObject({ severity: 'warning', where: 'CustomResourceDefinition machines.machine.sapcloud.io' });
  });

  it('warns of own mode beside an MCM, and of no other', () => {
    expect(managerWarnings({ ...FACTS, ...MCM }, { preservation: 'own' })[0]?.message).toContain('Deployment s/machine-controller-manager');
    expect(managerWarnings({ ...FACTS, ...MCM }, { preservation: 'auto' })).toEqual([]);
    expect(managerWarnings(FACTS, { preservation: 'own' })).toEqual([]);
  });
});
