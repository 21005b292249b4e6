import { attestationName, parseAttestation } from '../../src/domain/node-daemon/attestation.ts';
import { isFinalFailure, isUUID, UNFENCE_FAILURES } from '../../src/domain/node-daemon/unfencing.ts';
import type { AttestedUnfence } from '../../src/domain/node-daemon/unfencing.ts';
import type { ActionAgent, AgentContext, Outcome, Target } from '../../src/ports/agents.ts';
import { LEASES, NODE_FENCE_STOPS } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';

const POLL_MS = 1_000;
const DEFAULT_NAMESPACE = 'nodefence-system';
const UUID_LENGTH = 36;

/** What a run permits, and what the daemon must name in its answer. */
interface Asked {
  fence: string;
  run: string;
  bootID: string;
}

/** Permits the node's daemon to put its storage registrations back, and waits until it attests for this very run that it has read them back. */
export class UnfenceAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
  }

  async run(target: Target): Promise<Outcome> {
    return this.#with(target, async (call) => {
      const asked = askedBy(call);
      const { daemons } = this.#context;
      if (daemons === undefined) throw call.error('Misconfigured', 'no node daemons are heard here: run the controller with --node-daemons');
      call.beforeSend();
      const withdraw = daemons.permit(target.identity.node, asked);
      try {
        return await this.#wait(call, asked);
      } finally {
        withdraw();
      }
    });
  }

  async confirm(target: Target): Promise<boolean> {
    return this.#with(target, async (call) => {
      const asked = askedBy(call);
      return isReady(await this.#attested(call, asked), asked);
    });
  }

  async #wait(call: ObjectCall, asked: Asked): Promise<Outcome> {
    for (;;) {
      const { node } = call.target.identity;
      const [attested, stops] = await Promise.all([this.#attested(call, asked), call.list(NODE_FENCE_STOPS)]);
      const stop = stops.find(({ spec }) => spec.all === true || spec.node === node);
      if (stop !== undefined) throw call.error('NotSent', `NodeFenceStop ${stop.metadata.name} is active: the permit is withdrawn`);
      if (isReady(attested, asked)) return readyWords(asked, attested);
      const isAnswer = attested.run === asked.run && attested.fence === asked.fence;
      if (attested.state === 'failed' && isAnswer && isFinalFailure(attested.why)) throw call.error('Refused', wordsOf(attested));
      if (call.remainingMs <= POLL_MS) throw call.error('Timeout', wordsOf(attested));
      await call.pause(POLL_MS);
      if (call.isOver) throw call.error('NotSent', 'the waiting was given up');
    }
  }

  /** By a consistent read. A daemon that has not attested this boot yet is waited for. */
  async #attested(call: ObjectCall, { bootID }: Asked): Promise<AttestedUnfence> {
    const { node } = call.target.identity;
    const lease = await call.get(LEASES, attestationName(node), this.#context.namespace ?? DEFAULT_NAMESPACE);
    const attestation = lease && parseAttestation(lease);
    if (attestation?.bootID !== bootID) return { state: 'waiting', key: '', devices: [] };
    if (attestation.unfence === undefined)
      throw call.error('Refused', `the daemon of boot ${bootID} puts no registrations back: give it --unfence-device and --unfence-key`);
    return attestation.unfence;
  }

  #with<T>(target: Target, work: (call: ObjectCall) => Promise<T>): Promise<T> {
    const asked = `the daemon of node ${target.identity.node} to put its storage registrations back`;
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, work);
  }
}

/** Whatever is missing makes a permit that nobody could hold to. */
function askedBy(call: ObjectCall): Asked {
  const { incident = '', intent = '', bootID } = call.target;
  const fence = incident.split('/')[0] ?? '';
  const run = intent.slice(-UUID_LENGTH);
  if (!isUUID(fence) || !isUUID(run) || bootID === undefined)
    throw call.error('Misconfigured', 'only a recovery of a fence permits it, for a boot that is known');
  return { fence, run, bootID };
}

/** Only what answers this run was read after it began. */
function isReady({ state, fence, run }: AttestedUnfence, asked: Asked): boolean {
  return state === 'ready to recover' && fence === asked.fence && run === asked.run;
}

function readyWords({ bootID }: Asked, { key, devices }: AttestedUnfence): Outcome {
  return {
    result: 'accepted',
    detail: `ready to recover: boot ${bootID} has registered key 0x${key} again on ${devices.join(', ')}, and read it back`,
  };
}

function wordsOf({ state, why, devices }: AttestedUnfence): string {
  if (devices.length === 0) return 'the daemon of this boot has attested nothing: is it running?';
  const reason = why === undefined ? '' : `: ${UNFENCE_FAILURES[why]}`;
  return `it says ${state}${reason}`;
}
