import type { AgentContext, Outcome, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { canonical, parsed } from '../shared/parameter-schema.ts';
import { BARE_METAL_HOSTS, HARD, HOLD, isHeld, powerOf, RECORD, recordOf, recordText, unmanaged, type BareMetalHost } from './host.ts';
import { claimOf, claimOfMachine, type HostClaim } from './machine.ts';
import { metal3Parameters, type Metal3Parameters } from './parameters.ts';

/** More hosts than one cluster manages. */
const ASKED_MAX = 10_000;

interface Found {
  host: BareMetalHost;
  identity: 'verified' | 'unverified';
}

/** A machine that the bare metal operator manages: switched by its reboot annotation, read from the status of its BareMetalHost. */
export class Metal3Agent implements PowerAgent {
  readonly kind = 'power';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;
  /** Hosts whose off this process asked for: without our hold to be seen, an off there is not known to be newer than our request. */
  readonly #asked = new Set<string>();

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
  }

  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#with(target, 'read the power', async (call, parameters) => {
      const { host, identity } = await this.#find(call, parameters);
      return { ...this.#sinceAsked(host, target), identity };
    });
  }

  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#with(target, `set ${state}`, async (call, parameters) => {
      const { host } = await this.#find(call, parameters);
      if (state === 'on') {
        this.#asked.delete(keyOf(host));
        return letGo(call, host);
      }
      this.#remember(host);
      return hold(call, host);
    });
  }

  async close(): Promise<void> {
    await this.#clusters.close();
  }

  #remember(host: BareMetalHost): void {
    const [oldest] = this.#asked;
    if (oldest !== undefined && this.#asked.size >= ASKED_MAX) this.#asked.delete(oldest);
    this.#asked.add(keyOf(host));
  }

  #sinceAsked(host: BareMetalHost, { incident, isAfterOff }: Target): ReturnType<typeof powerOf> {
    const power = powerOf(host, incident);
    if (power.state === 'on') this.#asked.delete(keyOf(host));
    const wasAsked = isAfterOff === true || this.#asked.has(keyOf(host));
    if (power.state !== 'off' || isHeld(host) || !wasAsked) return power;
    return { ...power, state: 'pending', detail: `${power.detail}, our request ${HOLD} is not there: this off may be older than it` };
  }

  #with<T>(target: Target, asked: string, work: (call: ObjectCall, parameters: Metal3Parameters) => Promise<T>): Promise<T> {
    const named = canonical(metal3Parameters, target.parameters);
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: named['kubeconfig'] }, async (call) => {
      const result = parsed(metal3Parameters, target.parameters);
      if (!result.success)
        throw call.error('Misconfigured', result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
      return work(call, result.data);
    });
  }

  /** The host that is meant, and whether the Node's own records say so too; a contradiction is never acted on. */
  async #find(call: ObjectCall, parameters: Metal3Parameters): Promise<Found> {
    const { identity } = call.target;
    const claim = claimOf(identity.providerID) ?? (await this.#machineClaim(call));
    const asked = askedFor(call.target, parameters);
    const name = asked?.name ?? claim?.name;
    const namespace = asked?.namespace ?? parameters.namespace ?? claim?.namespace;
    if (name === undefined) {
      if (claim?.uid === undefined)
        throw call.error('Misconfigured', `nothing names the BareMetalHost of node ${identity.node}: write host=<namespace>/<name>`);
      return { host: await byUid(call, claim.uid, namespace), identity: 'verified' };
    }
    if (namespace === undefined) throw call.error('Misconfigured', `BareMetalHost ${name}: write its namespace, as host=<namespace>/${name}`);
    const host = await call.get(BARE_METAL_HOSTS, name, namespace);
    if (host === undefined) throw call.error('Misconfigured', `there is no BareMetalHost ${namespace}/${name}`);
    if (claim === undefined) return { host, identity: 'unverified' };
    const contradiction = contradictionOf(host, claim);
    if (contradiction !== undefined) throw call.error('Misconfigured', `BareMetalHost ${namespace}/${name} is another machine: ${contradiction}`);
    return { host, identity: 'verified' };
  }

  #machineClaim(call: ObjectCall): Promise<HostClaim | undefined> {
    const asked = 'find the Machine of the Node';
    return ObjectCall.run(this.#clusters, this.#context.clock, call.target, { asked, kubeconfig: undefined }, (own) =>
      claimOfMachine(own, call, call.target.identity),
    );
  }
}

function keyOf({ metadata }: BareMetalHost): string {
  return metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The plug, or the parameter. A plug that is the end of the providerID was put there for a cloud; the providerID itself says more. */
function askedFor({ plug, identity }: Target, parameters: Metal3Parameters): { namespace?: string; name: string } | undefined {
  const isOfProvider = plug !== '' && identity.providerID?.split('/').at(-1) === plug && claimOf(identity.providerID) !== undefined;
  const text = plug === '' || isOfProvider ? parameters.host : plug;
  if (text === undefined) return undefined;
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

async function byUid(call: ObjectCall, uid: string, namespace: string | undefined): Promise<BareMetalHost> {
  const all = await call.list(BARE_METAL_HOSTS, namespace === undefined ? {} : { namespace });
  const host = all.find(({ metadata }) => metadata.uid?.toLowerCase() === uid);
  if (host === undefined) throw call.error('Misconfigured', `no BareMetalHost has the uid ${uid}`);
  return host;
}

function contradictionOf({ metadata, spec }: BareMetalHost, claim: HostClaim): string | undefined {
  if (claim.name !== undefined && (claim.name !== metadata.name || claim.namespace !== metadata.namespace))
    return `${claim.source} names ${claim.namespace ?? ''}/${claim.name}`;
  if (claim.uid !== undefined && claim.uid.toLowerCase() !== metadata.uid?.toLowerCase())
    return `${claim.source} names uid ${claim.uid}, it has ${metadata.uid ?? 'none'}`;
  const consumer = spec?.consumerRef?.name;
  if (claim.consumer !== undefined && consumer !== undefined && claim.consumer !== consumer)
    return `${claim.source} belongs to ${claim.consumer}, the host to ${consumer}`;
  return undefined;
}

/**
 * Sets our hold with a record of what the host showed then. A hold of this incident is not set again: what it proves counts from its beginning. One that
 * an earlier incident left gets a new record.
 */
async function hold(call: ObjectCall, first: BareMetalHost): Promise<Outcome> {
  const { identity, incident = '' } = call.target;
  const { node } = identity;
  const told = { isNew: false };
  await call.edit(BARE_METAL_HOSTS, first, (host) => {
    const refusal = unmanaged(host);
    if (refusal !== undefined) throw call.error('Refused', refusal);
    if (isHeld(host) && recordOf(host)?.incident === incident) return undefined;
    told.isNew = true;
    const record = { node, incident, wasOn: host.status?.poweredOn === true };
    return { metadata: { annotations: { [HOLD]: HARD, [RECORD]: recordText(record) } } };
  });
  return { result: 'accepted', detail: told.isNew ? `${HOLD}=${HARD} set` : `${HOLD} is set already` };
}

/** Takes only our own hold away; what others hold, or have switched off on purpose, stays so and is told. */
async function letGo(call: ObjectCall, first: BareMetalHost): Promise<Outcome> {
  const host = await call.edit(BARE_METAL_HOSTS, first, (seen) => {
    const annotations = seen.metadata.annotations ?? {};
    if (annotations[HOLD] === undefined && annotations[RECORD] === undefined) return undefined;
    return { metadata: { annotations: { [HOLD]: null, [RECORD]: null } } };
  });
  if (host.spec?.online === false) throw call.error('Refused', 'spec.online=false: this host was switched off on purpose');
  return { result: 'accepted', detail: `${HOLD} taken away` };
}
