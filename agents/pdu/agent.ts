import type { Outcome, PlugEntry, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { parsedOnce } from '../shared/parsed-once.ts';
import { Pdu, type Found } from './device.ts';
import type { Look } from './look.ts';
import { commandOid, isMeant, parsePlug, spelled, type Outlet } from './outlet.ts';
import { NO_PLUG, parseSettings, sessionKey, unitOf, type PduSettings } from './parameters.ts';

/** A session costs a socket here and nothing there; what was found out on it is looked up anew afterwards. */
const IDLE_CLOSE_MS = 45_000;
/** So many outlets are named in a message. */
const NAMED_MAX = 8;

interface Kept {
  pdu: Pdu;
  calls: number;
  cancelIdle: () => void;
}

/** Outlets of rack PDUs by SNMP: one kept session per device and login. */
export class PduAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #clock: Clock;
  readonly #check: AddressCheck;
  readonly #kept = new Map<string, Kept>();
  readonly #parse = parsedOnce(parseSettings, sessionKey);

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#check = check;
  }

  /** The outlet's state, whether a command is pending, its current where it is metered and its name, all in one answer. */
  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#call(target, 'outlet state', async (pdu, settings, call) => {
      const { found, look, boot } = await pdu.look(call, plugOf(target, settings, call), settings);
      const identity = identify(look, settings, target, call);
      const overlooked = mayOverlook(target, look) ? overlookedOf(target, look, await pdu.namesakes(call, found, look.label ?? '')) : undefined;
      return {
        state: look.state,
        detail: look.detail,
        identity,
        ...(look.witness === undefined ? {} : { witness: look.witness }),
        ...(boot === undefined ? {} : { boot }),
        ...(overlooked === undefined ? {} : { overlooked }),
      };
    });
  }

  /** The immediate command, written once, after the outlet was looked at over the same session. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#call(target, `outlet ${state}`, async (pdu, settings, call) => {
      const { found, look } = await pdu.look(call, plugOf(target, settings, call), settings);
      identify(look, settings, target, call);
      if (look.state === 'unknown') throw call.error('Unreachable', `state unknown (${look.detail}); nothing was sent`);
      if (look.unswitchable !== undefined) throw call.error('Misconfigured', look.unswitchable);
      if (look.returning !== undefined && state === 'off')
        throw call.error('Misconfigured', `${look.returning}: the device would switch the outlet on again by itself; set it to 0 there`);
      return pdu.client.set(call, [bindingOf(found, state)], () => target.beforeSend());
    });
  }

  /** Every outlet with its name and state. */
  async list(target: Target): Promise<readonly PlugEntry[]> {
    return this.#call(target, 'list of outlets', (pdu, _settings, call) => pdu.list(call));
  }

  async close(): Promise<void> {
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    for (const { cancelIdle } of kept) cancelIdle();
    await Promise.all(kept.map(({ pdu }) => pdu.close()));
  }

  async #call<T>(target: Target, asked: string, work: (pdu: Pdu, settings: PduSettings, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const parsed = this.#parse(target.parameters);
      if ('problems' in parsed) throw call.error('Misconfigured', parsed.problems.join('; '));
      const { settings, key } = parsed;
      const kept = this.#kept.get(key) ?? { pdu: new Pdu(settings, this.#clock, this.#check), calls: 0, cancelIdle: () => undefined };
      this.#kept.set(key, kept);
      kept.cancelIdle();
      kept.calls += 1;
      try {
        return await work(kept.pdu, settings, call);
      } finally {
        kept.calls -= 1;
        if (kept.calls === 0) this.#whenIdle(key, kept);
      }
    } finally {
      call.release();
    }
  }

  #whenIdle(key: string, kept: Kept): void {
    if (this.#kept.get(key) !== kept) {
      void kept.pdu.close();
      return;
    }
    kept.cancelIdle = this.#clock.after(IDLE_CLOSE_MS, () => {
      this.#kept.delete(key);
      void kept.pdu.close();
    });
  }
}

function plugOf(target: Target, { unit }: PduSettings, call: Call): ReturnType<typeof parsePlug> {
  if (target.plug.trim() === '') throw call.error('Misconfigured', NO_PLUG);
  return parsePlug(target.plug, unit);
}

/** Only a name that the admin asked to be compared says whose outlet it is. */
function identify(look: Look, { outletName }: PduSettings, target: Target, call: Call): Reading['identity'] {
  if (outletName === undefined) return 'unverified';
  const expected = outletName.replaceAll('{node}', target.identity.node).trim();
  if (look.label === expected) return 'verified';
  const shown = look.label === undefined ? 'has no name on the device' : `is named ${JSON.stringify(look.label)}`;
  throw call.error('Misconfigured', `the outlet ${shown}, but outlet_name is ${JSON.stringify(expected)}`);
}

/** A name that is not the node's says nothing of what else feeds it. */
function mayOverlook({ isProbe, switched = [], identity }: Target, { label = '' }: Look): boolean {
  return isProbe === true && switched.length > 0 && label.includes(identity.node);
}

/** A machine with several supplies hangs on several outlets of one name: none of them may be left out. */
function overlookedOf({ switched = [] }: Target, { label = '' }: Look, namesakes: readonly Outlet[]): string | undefined {
  const plugs = switched.map(({ plug, parameters }) => parsePlug(plug, unitOf(parameters)));
  const isSwitched = (outlet: Outlet): boolean =>
    plugs.some((plug) => (plug.kind === 'numbers' ? isMeant(outlet, plug.numbers) : plug.name === label));
  const left = namesakes.filter((outlet) => !isSwitched(outlet)).map(spelled);
  if (left.length === 0) return undefined;
  return `outlet ${left.slice(0, NAMED_MAX).join(', ')} is named ${JSON.stringify(label)} as well, and no method switches it off: name it in plug=, or give it another name`;
}

function bindingOf({ family, outlet }: Found, state: 'on' | 'off'): { oid: string; integer: number } {
  const command = family[state];
  return { oid: commandOid(family, command, outlet), integer: command.value };
}
