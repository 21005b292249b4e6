import type { AgentContext } from '../../../src/ports/agents.ts';
import type { Node } from '../../../src/ports/objects.ts';
import { NODES } from '../../../src/ports/resources.ts';
import type { Call } from '../call.ts';
import { ConnectedClusters } from '../cluster/connected-clusters.ts';
import { ObjectCall } from '../cluster/object-call.ts';
import type { SshSettings } from '../ssh/parameters.ts';
import { saidBy, type CommandRunner } from './command-runner.ts';

const BOOT_ID = ['cat', '/proc/sys/kernel/random/boot_id'];

/**
 * What a node says of itself is no proof: `Misconfigured` when the commands would run on the very node that is to be shut out, by its name or addresses, or
 * by the boot ID that its kernel shows, whatever its address is called. `mustShow`: a host without a boot ID is not asked anything; else it may be a filer
 * that is no Linux.
 */
export async function demandElsewhere(
  context: AgentContext,
  commands: CommandRunner,
  call: Call,
  { place, mustShow }: { place: SshSettings; mustShow: boolean },
): Promise<void> {
  const { identity } = call.target;
  const node = await nodeOf(context, call);
  const own = new Set([identity.node, ...(node?.status.addresses ?? []).map(({ address }) => address)].map((name) => name.toLowerCase()));
  if (own.has(place.host))
    throw call.error('Misconfigured', `${place.host} is node ${identity.node} itself: name the storage, or a host that is well`);
  const answer = await commands.runLasting(call, place, BOOT_ID);
  const shown = answer.stdout.trim().toLowerCase();
  const isShown = answer.code === 0 && /^[0-9a-f-]{36}$/.test(shown);
  if (!isShown && mustShow) throw call.error('Unreachable', `${place.host} does not show its boot ID: ${saidBy(answer)}`);
  const victim = node?.status.nodeInfo?.bootID?.toLowerCase() ?? '';
  if (isShown && shown === victim)
    throw call.error('Misconfigured', `${place.host} is node ${identity.node} itself, by its boot ID: name the storage, or a host that is well`);
}

/** With a consistent read. */
function nodeOf(context: AgentContext, { target, asked }: Call): Promise<Node | undefined> {
  return ObjectCall.run(new ConnectedClusters(context), context.clock, target, { asked, kubeconfig: undefined }, (call) =>
    call.get(NODES, target.identity.node),
  );
}
