import type { AgentContext, Target } from '../../../src/ports/agents.ts';
import type { Node } from '../../../src/ports/objects.ts';
import { NODES } from '../../../src/ports/resources.ts';
import { ConnectedClusters } from '../cluster/connected-clusters.ts';
import { ObjectCall } from '../cluster/object-call.ts';
import type { SshSettings } from '../ssh/parameters.ts';

/** The Node that is to be shut out, from the API's quorum; `Misconfigured` when the commands would run on that very node: what it says of itself is no proof. */
export async function nodeElsewhere(context: AgentContext, target: Target, asked: string, place: SshSettings | undefined): Promise<Node | undefined> {
  return ObjectCall.run(new ConnectedClusters(context), context.clock, target, { asked, kubeconfig: undefined }, async (call) => {
    const node = await call.get(NODES, target.identity.node);
    const own = new Set([target.identity.node, ...(node?.status.addresses ?? []).map(({ address }) => address)].map((name) => name.toLowerCase()));
    if (place !== undefined && own.has(place.host))
      throw call.error('Misconfigured', `${place.host} is node ${target.identity.node} itself: name the storage, or a host that is well`);
    return node;
  });
}
