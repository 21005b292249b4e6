import type { Step } from './actions.ts';
import { REQUEST } from './names.ts';
import { deleteNode, mark, mustWithdraw, powerOff, powerOn, wait, withdraw } from './steps.ts';
import type { Situation } from './situation.ts';
import { actionOf } from './table.ts';

/** The plain table: the next action is looked up and done. Two rules alone are above it: the Node goes only with a proof (P1), and no leader lets its own node be switched off (P10). */
export function bySeedTable(situation: Situation): Step {
  const { host, node, isAsked, isHeld, power } = situation;
  if (host.power === undefined)
    return isAsked || isHeld ? wait('waiting', `BareMetalHost ${host.name}: status.poweredOn is not reported`) : { phase: 'idle' };
  if (mustWithdraw(situation)) return withdraw(situation);
  const action = actionOf({ hasNode: node !== undefined, needsRemediation: isAsked, isPoweredOn: host.power.isOn, hasRebootAnnotation: isHeld });
  switch (action) {
    case 'addRebootAnnotation':
      return powerOff(situation);
    case 'deleteNode':
      if (node === undefined || power.state === 'on') return wait('powering-off');
      if (power.state === 'off') return deleteNode(situation, node, power.proof);
      return wait('powering-off', `node ${node.name} is not deleted: ${power.why}`);
    case 'removeRemediationAnnotation':
      return { phase: 'powering-on', actions: [mark(situation, { [REQUEST]: undefined })] };
    case 'removeRebootAnnotation':
      return powerOn(situation, [], 'PowerOnRequested');
    case 'nothing':
      return isAsked || isHeld ? wait(isHeld ? 'powering-off' : 'waiting') : { phase: 'idle' };
  }
}
