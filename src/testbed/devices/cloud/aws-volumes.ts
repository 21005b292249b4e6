import type { Clock } from '../../../ports/clock.ts';
import type { EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';

export interface Attachment {
  instance: string;
  device: string;
  status: string;
  deleteOnTermination: boolean;
}

/** A volume of EBS; more than one attachment: Multi-Attach. */
export interface EmulatedVolume {
  id: string;
  attachments: Attachment[];
  tags: Record<string, string>;
  /** DetachVolume that reached it, by the instance. */
  detachments: string[];
}

/** As `InstanceEvent`, of the way to the volumes besides the root: `on` while one is attached. */
export type VolumeEvent = { instance: string } & ({ action: 'read'; shown: 'on' | 'off' } | { action: 'set'; want: 'off' });

export interface VolumeOddities {
  /** Its system does not let a volume go, by force or not. */
  staysBusy?: true;
  /** DescribeVolumes shows so many at once. */
  volumesPerPage?: number;
  /** DescribeVolumes shows those of every instance, as an endpoint of somebody else might. */
  ignoresFilter?: true;
  /** What DescribeVolumes leaves out. */
  leavesOut?: (volume: EmulatedVolume) => boolean;
  /** The instance still shows these as attached, or does not show them any more. */
  mapping?: { late?: readonly string[]; hidden?: readonly string[] };
}

const ROOT = '/dev/xvda';
const FIRST = '/dev/xvdba';

/** Volumes of the emulated EC2: each instance has its root, and one that the CSI driver attached. */
export class EmulatedVolumes {
  readonly all: EmulatedVolume[];
  readonly oddities: VolumeOddities = {};
  /** Hears whenever volumes of an instance are shown, and each set. */
  onEvent: ((event: VolumeEvent) => void) | undefined;
  readonly #clock: Clock;
  readonly #faults: () => CloudFaults;
  readonly #cancels = new Set<() => void>();

  constructor(instances: readonly EmulatedInstance[], clock: Clock, faults: () => CloudFaults) {
    this.#clock = clock;
    this.#faults = faults;
    this.all = instances.flatMap(({ id, machine }, index) => [
      volume(`vol-0aaaa${String(index).padStart(3, '0')}`, { instance: id, device: ROOT, status: 'attached', deleteOnTermination: true }),
      volume(
        `vol-0bbbb${String(index).padStart(3, '0')}`,
        { instance: id, device: FIRST, status: 'attached', deleteOnTermination: false },
        {
          CSIVolumeName: `pvc-of-${machine.node}`,
        },
      ),
    ]);
  }

  /** What is attached to it, but its root: what its pods write to. */
  attachedTo(instance: string): readonly string[] {
    return this.all.filter(({ attachments }) => attachments.some((one) => one.instance === instance && one.device !== ROOT)).map(({ id }) => id);
  }

  /** As the CSI driver does, or whoever launches the instance. */
  attach(id: string, instance: string, device: string, deleteOnTermination = false): EmulatedVolume {
    const known = this.all.find((one) => one.id === id) ?? volume(id);
    if (!this.all.includes(known)) this.all.push(known);
    known.attachments.push({ instance, device, status: 'attached', deleteOnTermination });
    return known;
  }

  /** Undefined where there is no such attachment. */
  detach(id: string, instance: EmulatedInstance, isByForce: boolean): Attachment | undefined {
    const found = this.all.find((one) => one.id === id);
    const attachment = found?.attachments.find((one) => one.instance === instance.id);
    instance.commands.push({ wanted: isByForce ? 'off' : 'other' });
    this.onEvent?.({ instance: instance.id, action: 'set', want: 'off' });
    if (found === undefined || attachment === undefined) return undefined;
    found.detachments.push(instance.id);
    const { ignoresSet, sticksInStopping, stopMs = 0 } = this.#faults();
    if (ignoresSet === true || ignoresSet?.includes(instance.id) === true) return attachment;
    // Without force a system that does not unmount keeps it.
    attachment.status = sticksInStopping === true || this.oddities.staysBusy === true || !isByForce ? 'busy' : 'detaching';
    if (attachment.status === 'detaching') this.#later(stopMs, () => this.#gone(found, attachment));
    return attachment;
  }

  describe(form: URLSearchParams): string {
    const instance = form.get('Filter.1.Value.1');
    const isBy = form.get('Filter.1.Name') === 'attachment.instance-id';
    if (isBy && instance !== null) this.onEvent?.({ instance, action: 'read', shown: this.attachedTo(instance).length === 0 ? 'off' : 'on' });
    const { volumesPerPage = 500, leavesOut, ignoresFilter } = this.oddities;
    const from = Number(form.get('NextToken') ?? '0');
    const found = this.all.filter(
      (one) =>
        leavesOut?.(one) !== true && (!isBy || ignoresFilter === true || one.attachments.some((attachment) => attachment.instance === instance)),
    );
    const next = from + volumesPerPage < found.length ? `<nextToken>${from + volumesPerPage}</nextToken>` : '';
    const items = found.slice(from, from + volumesPerPage).map((one) => this.#item(one));
    return `<DescribeVolumesResponse><volumeSet>${items.join('')}</volumeSet>${next}</DescribeVolumesResponse>`;
  }

  /** Of DescribeInstances. */
  mappingOf(instance: string): string {
    const { late = [], hidden = [] } = this.oddities.mapping ?? {};
    const shown = this.all.flatMap(({ id, attachments }) =>
      attachments.filter((one) => one.instance === instance && !hidden.includes(id)).map((one) => ({ id, ...one })),
    );
    const kept = late.map((id) => ({ id, device: FIRST, status: 'attached', deleteOnTermination: false }));
    const items = [...shown, ...kept.filter(({ id }) => !shown.some((one) => one.id === id))].map(
      ({ id, ...attachment }) =>
        `<item><deviceName>${attachment.device}</deviceName><ebs><volumeId>${id}</volumeId>${this.#words(attachment)}</ebs></item>`,
    );
    return `<rootDeviceName>${ROOT}</rootDeviceName><blockDeviceMapping>${items.join('')}</blockDeviceMapping>`;
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
  }

  #gone(found: EmulatedVolume, attachment: Attachment): void {
    found.attachments = found.attachments.filter((one) => one !== attachment);
    const { restartsAfterMs } = this.#faults();
    if (restartsAfterMs !== undefined) this.#later(restartsAfterMs, () => found.attachments.push({ ...attachment, status: 'attached' }));
  }

  #later(ms: number, action: () => void): void {
    const cancel = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel);
      action();
    });
    this.#cancels.add(cancel);
  }

  #words({ device, status, deleteOnTermination }: Omit<Attachment, 'instance'>): string {
    const { shows } = this.#faults();
    const said = device === ROOT || shows === undefined ? status : (shows ?? '');
    const word = shows === 'absent' ? '' : `<status>${said}</status>`;
    return `${word}<deleteOnTermination>${deleteOnTermination}</deleteOnTermination>`;
  }

  #item({ id, attachments, tags }: EmulatedVolume): string {
    const items = attachments.map(
      (one) => `<item><volumeId>${id}</volumeId><instanceId>${one.instance}</instanceId><device>${one.device}</device>${this.#words(one)}</item>`,
    );
    const tagged = Object.entries(tags).map(([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`);
    const state = attachments.length === 0 ? 'available' : 'in-use';
    return `<item><volumeId>${id}</volumeId><status>${state}</status><attachmentSet>${items.join('')}</attachmentSet><tagSet>${tagged.join('')}</tagSet></item>`;
  }
}

function volume(id: string, attachment?: Attachment, tags: Record<string, string> = {}): EmulatedVolume {
  return { id, attachments: attachment === undefined ? [] : [attachment], tags, detachments: [] };
}
