import { CORDON_MARK, fenceName } from '../../src/domain/node-fence.ts';
import type { ActionAgent, AgentContext, AgentDefinition } from '../../src/ports/agents.ts';
import { isMarkedByUs } from '../../src/ports/cordon-marks.ts';
import { autoscalerKeptAway, cordonerOf, isCordoned } from '../shared/cordon-mark.ts';
import { editNode, nodeError, readNode } from '../shared/node-edit.ts';

const ASKED = 'cordon';

/** Marks the Node unschedulable, with our mark; a cordon that an admin set stays the admin's (P8). */
function create(context: AgentContext): ActionAgent {
  return {
    kind: 'action',
    async run(target) {
      const { node, isChanged } = await editNode(context, target, ASKED, (found) => {
        const annotations = autoscalerKeptAway(found);
        if (isCordoned(found)) return Object.keys(annotations).length === 0 ? undefined : { annotations };
        return { annotations: { ...annotations, [CORDON_MARK]: fenceName(found.metadata.name) }, spec: { unschedulable: true } };
      });
      if (!isCordoned(node)) throw nodeError('Unreachable', target, ASKED, 'the Node is schedulable as the API server stored it');
      if (isMarkedByUs(node)) return { result: 'accepted', detail: isChanged ? 'cordoned' : 'already cordoned by this fence' };
      return { result: 'accepted', detail: `already cordoned by ${cordonerOf(node)}; left alone` };
    },
    async confirm(target) {
      return isCordoned(await readNode(context, target, ASKED));
    },
  };
}

export const cordon: AgentDefinition = {
  name: 'cordon',
  aliases: ['mark-unschedulable'],
  kind: 'action',
  actions: ['run', 'on'],
  deviceMaxLatencyMs: 0,
  deviceKey: () => '',
  editsNode: true,
  describe: () => [],
  check: () => [],
  create: (context) => Promise.resolve(create(context)),
};
