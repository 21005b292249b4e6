import type { ActionAgent, AgentContext, AgentDefinition } from '../../src/ports/agents.ts';
import { CORDON_MARK, isCordoned, isMarkedByUs } from '../shared/cordon-mark.ts';
import { editNode, nodeError, readNode } from '../shared/node-edit.ts';

const ASKED = 'uncordon';

/** Takes back the cordon that carries our mark and nothing else; confirmed by reading the Node back (P8). */
function create(context: AgentContext): ActionAgent {
  return {
    kind: 'action',
    async run(target) {
      const wasOurs = await editNode(context, target, ASKED, (node) => {
        if (!isMarkedByUs(node)) return undefined;
        return { annotations: { [CORDON_MARK]: null }, spec: { unschedulable: null } };
      });
      const node = await readNode(context, target, ASKED);
      if (isMarkedByUs(node)) throw nodeError('Unreachable', target, ASKED, 'our mark is still on the Node when read back');
      if (isCordoned(node)) return { result: 'accepted', detail: 'still cordoned by somebody else; left alone' };
      return { result: 'accepted', detail: wasOurs ? 'uncordoned' : 'was not cordoned by this fence' };
    },
    async confirm(target) {
      return !isMarkedByUs(await readNode(context, target, ASKED));
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
  describe: () => [],
  check: () => [],
  create: (context) => Promise.resolve(create(context)),
};
