import type { AgentDefinition, FabricAgent, Target } from '../../src/ports/agents.ts';
import type { World } from './world.ts';

export const STORAGE_SWITCH = 'storage-switch';
export const SWITCH_ADDRESS = 'san-switch';

/** A switch before a storage, one port for each node: the plug is the node's name. What it is asked stands in the trace. */
export function storageSwitch(world: World, storage: string, stuckPorts: readonly string[] = []): AgentDefinition {
  const closed = new Set<string>();
  const record = ({ plug }: Target, action: 'read' | 'set', more: { want?: 'on' | 'off'; shown?: 'on' | 'off' }): void => {
    const at = world.clock.wallMs();
    const place = { device: SWITCH_ADDRESS, plug, node: plug.split('/')[0] ?? '', storage, session: 'only' };
    world.witness.record({ kind: 'device', at, action, answer: more.shown ?? 'accepted', ...place, ...more });
  };
  const agent: FabricAgent = {
    kind: 'fabric',
    read: (target) => {
      const state = closed.has(target.plug) ? ('closed' as const) : ('open' as const);
      record(target, 'read', { shown: state === 'closed' ? 'off' : 'on' });
      return Promise.resolve({ state, detail: `port ${state}`, identity: 'verified' });
    },
    set: (target, state) => {
      target.beforeSend();
      record(target, 'set', { want: state === 'closed' ? 'off' : 'on' });
      if (state === 'closed' && !stuckPorts.includes(target.plug)) closed.add(target.plug);
      if (state === 'open') closed.delete(target.plug);
      return Promise.resolve({ result: 'accepted', detail: state });
    },
  };
  return {
    name: STORAGE_SWITCH,
    aliases: [],
    kind: 'fabric',
    actions: ['on', 'off'],
    deviceMaxLatencyMs: 1_000,
    deviceKey: ({ ip = '' }) => ip,
    describe: () => [{ name: 'ip', required: true, secret: false, description: 'Address of the switch.' }],
    check: () => [],
    create: () => Promise.resolve(agent),
  };
}
