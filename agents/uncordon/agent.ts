import { AUTOSCALER_MARK } from '../../src/domain/node-fence.ts';
import type { ActionAgent, AgentContext, AgentDefinition } from '../../src/ports/agents.ts';
import { cordonTakenBack, isMarkedByUs } from '../../src/ports/cordon-marks.ts';
import { cordonerOf, isCordoned } from '../shared/cordon-mark.ts';
import type { Node } from '../../src/ports/objects.ts';
import { editNode, nodeError, readNode } from '../shared/node-edit.ts';

const ASKED = 'uncordon';

function isOursLeft(node: Node): boolean {
  return isMarkedByUs(node) || node.metadata.annotations?.[AUTOSCALER_MARK] !== undefined;
}

/** Takes back the cordon and the word to the autoscaler that carries our mark and nothing else; confirmed by what the API server stored (P8). */
function create(context: AgentContext): ActionAgent {
  return {
    kind: 'action',
    async run(target) {
      const before = { wasOurs: false };
      const { node } = await editNode(context, target, ASKED, (found) => {
        before.wasOurs = isMarkedByUs(found);
        return cordonTakenBack(found);
      });
      if (isOursLeft(node)) throw nodeError('Unreachable', target, ASKED, 'our mark is still on the Node as the API server stored it');
      if (isCordoned(node)) return { result: 'accepted', detail: `still cordoned by ${cordonerOf(node)}; left alone` };
      return { result: 'accepted', detail: before.wasOurs ? 'uncordoned' : 'was not cordoned by this fence' };
    },
    async confirm(target) {
      return !isOursLeft(await readNode(context, target, ASKED));
    },
  };
}

export const uncordon: AgentDefinition = {
  name: 'uncordon',
  aliases: ['mark-schedulable'],
  kind: 'action',
  actions: ['run', 'off'],
  deviceMaxLatencyMs: 0,
  deviceKey: () => '',
  editsNode: true,
  describe: () => [],
  check: () => [],
  create: (context) => Promise.resolve(create(context)),
};
