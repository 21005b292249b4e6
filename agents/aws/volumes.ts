import type { Outcome, PortState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { AccountSource } from '../shared/cloud/accounts.ts';
import type { InstanceView, PathAccount } from '../shared/cloud/instance.ts';
import { sentOnce } from '../shared/cloud/repeat.ts';
import { failureIn, type Ec2Instance } from './answers.ts';
import { attachmentsIn, detachmentIn, isKnownStatus, merged, type AttachedVolume } from './attachments.ts';
import { Ec2Api, factsOf, type Action } from './ec2-api.ts';
import { volumeSettings, type VolumeSettings } from './parameters.ts';

/** An instance bears fewer volumes than one page shows; more pages than this are no answer. */
const PAGES_MAX = 10;

interface VolumesView extends InstanceView<PortState> {
  /** That have to go. */
  volumes: readonly AttachedVolume[];
}

export const volumeCloud: AccountSource<VolumeSettings, PathAccount<VolumesView>> = {
  isPublic: true,
  settingsOf: volumeSettings,
  open: (settings, reach) => new VolumeAccount(new Ec2Api(settings, reach), settings.keep),
};

/** Volumes of instances: what is attached to one is its way to EBS, open until nothing but its root and what is kept is left. */
class VolumeAccount implements PathAccount<VolumesView> {
  readonly #api: Ec2Api;
  readonly #keep: readonly string[];

  constructor(api: Ec2Api, keep: readonly string[]) {
    this.#api = api;
    this.#keep = keep;
  }

  /** By two witnesses, the instance and the volumes: either may be late, and what one of them shows is attached. */
  async read(call: Call): Promise<VolumesView> {
    const instance = await this.#api.instance(call);
    const shown = await this.#attachments(call, instance.id);
    const all = merged([...instance.volumes, ...shown]);
    const root = rootOf(instance, shown);
    const volumes = all.filter((one) => one.volume !== root && !isKept(one, this.#keep));
    const kept = all.filter((one) => !volumes.includes(one));
    const isProbe = call.target.isProbe === true;
    const identified: InstanceView<PortState> = { id: instance.id, state: 'unknown', detail: '', machine: factsOf(call, instance) };
    if (root === undefined) return { ...identified, detail: rootless(instance, all), volumes: [] };
    const doubt = doubtOf(volumes, kept, root);
    if (doubt !== undefined) throw call.error('Misconfigured', doubt);
    const wouldRefuse = isProbe
      ? await this.#api.wouldRefuse(
          call,
          volumes.slice(0, 1).map((one) => detach(instance.id, one)),
        )
      : undefined;
    return {
      ...identified,
      // Of a node that is well, nothing attached does not mean that it is shut out: a pod may bring a volume at any time.
      state: isProbe && volumes.length === 0 ? 'open' : stateOf(volumes),
      detail: `${volumes.length === 0 ? 'no volume is attached' : described(volumes)}; stays: ${described(kept)}`,
      volumes,
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
  }

  /** One after the other: the first that is refused ends it, for then the storage is not revoked, and every volume costs its pods their caches. */
  async set(call: Call, view: VolumesView, state: 'open' | 'closed'): Promise<Outcome> {
    if (state === 'open') throw call.error('Refused', 'volumes are attached by the CSI driver, where their pods are, and never here');
    if (view.state === 'unknown') throw call.error('Unreachable', `${view.detail}; nothing was sent`);
    if (view.volumes.length === 0) return { result: 'accepted', detail: 'no volume is attached; nothing was sent', isSent: false };
    const outcomes: Outcome[] = [];
    for (const volume of view.volumes) outcomes.push(await this.#detach(call, view.id, volume));
    const isClear = outcomes.every(({ result }) => result === 'accepted');
    return { result: isClear ? 'accepted' : 'unclear', detail: outcomes.map(({ detail }) => detail).join(', ') };
  }

  close(): Promise<void> {
    this.#api.close();
    return Promise.resolve();
  }

  #detach(call: Call, instance: string, volume: AttachedVolume): Promise<Outcome> {
    const gate = (): void => call.target.beforeSend();
    return sentOnce(call, async () => {
      const answer = await this.#api.ask(call, detach(instance, volume), gate);
      if (answer.status === 200) return { result: 'accepted', detail: `${volume.volume}: ${detachmentIn(answer.text) ?? 'HTTP 200'}` };
      const failure = failureIn(answer.text);
      const words = `${volume.volume}: HTTP ${answer.status}${failure === undefined ? '' : `: ${failure.code}: ${failure.message}`}`;
      // It may be gone already; what broke inside may have been done: reads decide.
      if (failure === undefined || GONE.has(failure.code) || answer.status >= 500) return { result: 'unclear', detail: words };
      throw this.#api.refusal(call, answer);
    });
  }

  async #attachments(call: Call, instance: string): Promise<AttachedVolume[]> {
    const found: AttachedVolume[] = [];
    let token: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const filter = { 'Filter.1.Name': 'attachment.instance-id', 'Filter.1.Value.1': instance };
      const parameters = { ...filter, ...(token === undefined ? {} : { NextToken: token }) };
      const listed = await this.#api.read(call, { action: 'DescribeVolumes', parameters }, (text) => attachmentsIn(text, instance));
      found.push(...listed.volumes);
      token = listed.nextToken;
      if (token === undefined) return found;
    }
    throw call.error('Unreachable', `more than ${PAGES_MAX} pages of volumes of one instance`);
  }
}

/** Of what is not attached any more (EC2 API reference, "Error codes"). */
const GONE = new Set(['IncorrectState', 'InvalidAttachment.NotFound']);

/** By force: a system that failed unmounts nothing. */
function detach(instance: string, { volume }: AttachedVolume): Action {
  return { action: 'DetachVolume', parameters: { VolumeId: volume, InstanceId: instance, Force: 'true' } };
}

/**
 * The volume at the root device, where both witnesses show the same one. Every list has to show it: one without it is not whole, and what is missing from it
 * is not thereby detached.
 */
function rootOf({ rootDevice, volumes }: Ec2Instance, shown: readonly AttachedVolume[]): string | undefined {
  const [mapped, listed] = [volumes, shown].map((list) => list.find(({ device }) => device !== '' && device === rootDevice)?.volume);
  return mapped === listed ? mapped : undefined;
}

function rootless({ rootDevice }: Ec2Instance, all: readonly AttachedVolume[]): string {
  const shows = all.length === 0 ? 'no volume is shown' : described(all);
  return `the root is not seen: instance and volumes do not both show one volume at ${rootDevice ?? '(no root device)'}, so that no list of them is whole: ${shows}`;
}

/** A volume of the system that would be lost to it, or one of a pod that would be left to it. */
function doubtOf(volumes: readonly AttachedVolume[], kept: readonly AttachedVolume[], root: string): string | undefined {
  const own = volumes.find(({ endsWithInstance }) => endsWithInstance);
  if (own !== undefined)
    return `${own.volume} at ${own.device} is deleted with the instance (DeleteOnTermination), as is what was launched with it: write it into keep= if no pod writes to it`;
  const claimed = kept.find(({ volume, persistentVolume }) => volume !== root && persistentVolume !== undefined);
  return claimed === undefined
    ? undefined
    : `keep= names ${claimed.volume}, which is PersistentVolume ${claimed.persistentVolume ?? ''} by its tag: a pod may write to it; take it out of keep=`;
}

function stateOf(volumes: readonly AttachedVolume[]): PortState {
  if (volumes.length === 0) return 'closed';
  if (volumes.some(({ status }) => !isKnownStatus(status))) return 'unknown';
  return volumes.some(({ status }) => status === 'attached') ? 'open' : 'pending';
}

function isKept({ volume, device }: AttachedVolume, keep: readonly string[]): boolean {
  return keep.includes(volume) || keep.includes(device.replace(/^\/dev\//, ''));
}

function described(volumes: readonly AttachedVolume[]): string {
  return volumes.map(({ volume, device, status }) => `${volume} at ${device === '' ? '(no device)' : device} ${status}`).join(', ');
}
