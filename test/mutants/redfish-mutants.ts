import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SEVERAL_CHASSIS = 'agents/redfish/several-chassis.test.ts';

/** Defects of the agent redfish, beside those of device-mutants.ts. */
export const REDFISH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'first chassis for all',
    defect: 'of several Chassis only the first is asked whether the machine is off',
    file: 'agents/redfish/machine.ts',
    edits: [['return found.find((witness) => witness.state !== view.state) ?? found[0];', 'return found[0];']],
    killedBy: byTest(SEVERAL_CHASSIS, 'of several Chassis each is a witness: the one that contradicts is told, also as the last'),
  },
  {
    name: 'first chassis linked',
    defect: 'of several Chassis only the first that is linked is asked',
    file: 'agents/redfish/machine.ts',
    edits: [['const CHASSIS_MAX = 4;', 'const CHASSIS_MAX = 1;']],
    killedBy: byTest(SEVERAL_CHASSIS, 'of several Chassis each is a witness: the one that contradicts is told, also as the last'),
  },
];
