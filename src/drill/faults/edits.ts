import { CONFIG_MAPS, SECRETS } from '../../ports/resources.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import { FENCE_NAMESPACE, nodeConfiguration, secretOf } from '../run/scene-configuration.ts';
import type { FaultStage } from './script.ts';

/** Something that an operator changes while the node is being fenced. */
export interface Edit {
  what: string;
  /** The node could not be fenced with it: its report must say so afterwards. */
  isReported: boolean;
  make(stage: FaultStage): Promise<void>;
}

export const EDITS: readonly Edit[] = [
  {
    what: 'its power methods are replaced by one that does not exist',
    isReported: true,
    make: (stage) =>
      patch(stage, { 'config.properties': `node_name=${stage.node}\nisolation=mark-unschedulable\npower_management=no-such-method\n` }),
  },
  {
    what: 'the address of its device becomes that of another node',
    isReported: true,
    make: async (stage) => {
      const other = stage.session.bmcs.find(({ node }) => node !== stage.node);
      if (other === undefined) throw new Error('there is no other node');
      await patch(stage, nodeConfiguration({ ...other, node: stage.node }, stage.session.agent).data ?? {});
    },
  },
  {
    what: 'its power methods are deleted',
    isReported: true,
    make: (stage) => patch(stage, { [`fence-method-${stage.session.agent}-off`]: null, [`fence-method-${stage.session.agent}-on`]: null }),
  },
  {
    what: 'the password of its device is changed, in the device and then in the Secret',
    isReported: false,
    make: async ({ session }) => {
      const password = session.freshPassword();
      for (const node of session.nodes) session.member(node).child.tell({ command: 'password', password });
      const secret = secretOf(session.agent, { ...session.credentials, password });
      await session.cluster.mergePatch(SECRETS, secret.metadata.name, { data: secret.data }, { namespace: FENCE_NAMESPACE });
    },
  },
];

async function patch({ session, node }: FaultStage, data: Readonly<Record<string, string | null>>): Promise<void> {
  await session.cluster.mergePatch<ConfigMap>(CONFIG_MAPS, `fence-config-${node}`, { data }, { namespace: FENCE_NAMESPACE });
}
