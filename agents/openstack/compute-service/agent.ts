import type { ActionAgent, AgentContext, Outcome, Target } from '../../../src/ports/agents.ts';
import type { Call } from '../../shared/call.ts';
import { Accounts, type Reach } from '../../shared/cloud/accounts.ts';
import { Keystone } from '../keystone.ts';
import { NovaApi } from '../nova.ts';
import { settingsOf, type OpenStackSettings } from '../settings.ts';
import { serviceDownSettings, type ServiceDownSettings } from './settings.ts';
import { ComputeServices, isMovable, markedDown, markedUp, namesOf } from './services.ts';

const POLL_MS = 2_000;
/** Asked for at once: a run sends nothing after its `set_deadline`. */
const TOGETHER = 16;

class Account<S extends OpenStackSettings> {
  readonly settings: S;
  readonly services: ComputeServices;
  readonly #keystone: Keystone;

  constructor(settings: S, reach: Reach) {
    this.settings = settings;
    this.#keystone = new Keystone(settings, reach);
    this.services = new ComputeServices(new NovaApi(this.#keystone, reach.clock));
  }

  close(): Promise<void> {
    this.#keystone.close();
    return Promise.resolve();
  }
}

/** Tells Nova that a hypervisor is dead, which is true only where its own power was proven off before, and has its servers started elsewhere. */
export class ServiceDownAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #accounts: Accounts<ServiceDownSettings, Account<ServiceDownSettings>>;

  constructor(context: Pick<AgentContext, 'clock' | 'host'>) {
    this.#accounts = new Accounts({ settingsOf: serviceDownSettings, open: (settings, reach) => new Account(settings, reach) }, context);
  }

  run(target: Target): Promise<Outcome> {
    return this.#accounts.call(target, 'force the compute service down', async ({ services, settings }, call) => {
      const service = await services.find(call, hostOf(call));
      if (!service.isForcedDown) await services.change(call, service, markedDown(service, target.incident ?? ''));
      const after = await services.find(call, hostOf(call));
      if (!after.isForcedDown || after.isUp) throw call.error('Unreachable', `nova-compute of ${after.host} is not down when it is read back`);
      const forced = service.isForcedDown ? 'was forced down already' : 'is forced down';
      if (!settings.evacuates) return { result: 'accepted', detail: `nova-compute of ${after.host} ${forced}` };
      return { result: 'accepted', detail: `nova-compute of ${after.host} ${forced}; ${await evacuated(call, services, after)}` };
    });
  }

  confirm(target: Target): Promise<boolean> {
    return this.#accounts.call(target, 'is the compute service forced down', async ({ services, settings }, call) => {
      const service = await services.find(call, hostOf(call));
      if (!service.isForcedDown || service.isUp) return false;
      return !settings.evacuates || !(await services.serversOf(call, service)).some(isMovable);
    });
  }

  close(): Promise<void> {
    return this.#accounts.close();
  }
}

/** In words. Rejects `Timeout` while a server that Nova can move is still there. */
async function evacuated(call: Call, services: ComputeServices, service: Parameters<ComputeServices['serversOf']>[1]): Promise<string> {
  const before = await services.serversOf(call, service);
  const movable = before.filter(isMovable);
  const refusals: string[] = [];
  for (let begun = 0; begun < movable.length; begun += TOGETHER) {
    const answers = await Promise.all(movable.slice(begun, begun + TOGETHER).map((server) => services.evacuate(call, server)));
    refusals.push(...answers.filter((words) => words !== undefined));
  }
  for (;;) {
    const left = await services.serversOf(call, service);
    const waiting = left.filter(isMovable);
    if (waiting.length === 0) return moved(movable.length, left);
    if (call.remainingMs <= POLL_MS) {
      const why = refusals[0] === undefined ? '' : `; Nova refused ${refusals.length}, such as ${refusals[0]}`;
      throw call.error('Timeout', `${waiting.length} of ${movable.length} servers are still on ${service.host}: ${namesOf(waiting)}${why}`);
    }
    await call.pause(POLL_MS);
  }
}

function moved(count: number, left: Parameters<typeof namesOf>[0]): string {
  const words = `${count} ${count === 1 ? 'server has' : 'servers have'} left it`;
  return left.length === 0 ? words : `${words}; Nova moves none in such a state: ${namesOf(left)}`;
}

/** Takes back what a fence told Nova of a hypervisor, and nothing that somebody else did. */
export class ServiceUpAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #accounts: Accounts<OpenStackSettings, Account<OpenStackSettings>>;

  constructor(context: Pick<AgentContext, 'clock' | 'host'>) {
    this.#accounts = new Accounts({ settingsOf, open: (settings, reach) => new Account(settings, reach) }, context);
  }

  run(target: Target): Promise<Outcome> {
    return this.#accounts.call(target, 'let the compute service up', async ({ services }, call) => {
      const service = await services.find(call, hostOf(call));
      const change = markedUp(service);
      if (change === undefined) {
        const how = service.isForcedDown ? 'was forced down by somebody else; left alone' : 'is not forced down';
        return { result: 'accepted', detail: `nova-compute of ${service.host} ${how}` };
      }
      await services.change(call, service, change);
      const after = await services.find(call, hostOf(call));
      if (after.isForcedDown || markedUp(after) !== undefined)
        throw call.error('Unreachable', `nova-compute of ${after.host} is still forced down when it is read back`);
      return { result: 'accepted', detail: `nova-compute of ${after.host} is not forced down any more` };
    });
  }

  confirm(target: Target): Promise<boolean> {
    return this.#accounts.call(
      target,
      'is the compute service let up',
      async ({ services }, call) => markedUp(await services.find(call, hostOf(call))) === undefined,
    );
  }

  close(): Promise<void> {
    return this.#accounts.close();
  }
}

function hostOf(call: Call): string {
  const { plug, identity } = call.target;
  return plug === '' ? identity.node : plug;
}
