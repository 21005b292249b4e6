import { parseXml, type XmlElement } from '../shared/xml.ts';
import { child, items, tagsOf, textOf } from './elements.ts';

/** A volume at an instance, as the instance or the volume shows it. */
export interface AttachedVolume {
  volume: string;
  device: string;
  /** `attaching`, `attached`, `detaching`, `detached`, `busy`. */
  status: string;
  /** It is deleted with the instance, as are those that were launched with it; AttachVolume attaches none so. */
  endsWithInstance: boolean;
  /** The PersistentVolume that it was made for, by its tags. */
  persistentVolume: string | undefined;
}

/** Tags of the CSI driver, and of the provisioner before it (aws-ebs-csi-driver, docs/tagging.md). */
const PERSISTENT_VOLUME_TAGS = ['CSIVolumeName', 'kubernetes.io/created-for/pv/name'] as const;

/** What DescribeInstances shows of them. */
export function mappedVolumes(instance: XmlElement): AttachedVolume[] {
  return items(instance, 'blockDeviceMapping').flatMap((mapping) => {
    const ebs = child(mapping, 'ebs');
    const volume = textOf(ebs, 'volumeId');
    return volume === undefined ? [] : [shown(volume, ebs, textOf(mapping, 'deviceName'), undefined)];
  });
}

/** Attachments to this instance, as DescribeVolumes shows them; undefined where the answer is none. */
export function attachmentsIn(text: string, instance: string): { volumes: readonly AttachedVolume[]; nextToken: string | undefined } | undefined {
  const root = parseXml(text);
  if (root?.name !== 'DescribeVolumesResponse' || child(root, 'volumeSet') === undefined) return undefined;
  const volumes = items(root, 'volumeSet').flatMap((element) => {
    const tags = tagsOf(element);
    const persistentVolume = PERSISTENT_VOLUME_TAGS.map((tag) => tags.get(tag)).find((name) => name !== undefined);
    const id = textOf(element, 'volumeId') ?? '';
    const own = items(element, 'attachmentSet').filter((attachment) => textOf(attachment, 'instanceId') === instance);
    return own.map((attachment) => shown(id, attachment, textOf(attachment, 'device'), persistentVolume));
  });
  return { volumes, nextToken: textOf(root, 'nextToken') };
}

function shown(volume: string, attachment: XmlElement | undefined, device: string | undefined, persistentVolume: string | undefined): AttachedVolume {
  const endsWithInstance = textOf(attachment, 'deleteOnTermination') === 'true';
  return { volume, device: device ?? '', status: textOf(attachment, 'status') ?? '(none)', endsWithInstance, persistentVolume };
}

/** What DetachVolume says of the attachment. */
export function detachmentIn(text: string): string | undefined {
  const root = parseXml(text);
  return root?.name === 'DetachVolumeResponse' ? textOf(root, 'status') : undefined;
}

/** How far an attachment is from being none. */
const NEARNESS: readonly string[] = ['detached', 'detaching', 'busy', 'attaching', 'attached'];

/** A word that nobody knows is the last to be overruled. */
function rank({ status }: AttachedVolume): number {
  const place = NEARNESS.indexOf(status);
  return place < 0 ? NEARNESS.length : place;
}

export function isKnownStatus(status: string): boolean {
  return NEARNESS.includes(status);
}

/** One for each volume: where the witnesses disagree, the one that is less detached, with what either knows. Those that are detached are none. */
export function merged(all: readonly AttachedVolume[]): AttachedVolume[] {
  const byVolume = new Map<string, AttachedVolume>();
  for (const one of all) {
    const other = byVolume.get(one.volume);
    const nearer = other === undefined || rank(one) > rank(other) ? one : other;
    byVolume.set(one.volume, {
      ...nearer,
      endsWithInstance: one.endsWithInstance || other?.endsWithInstance === true,
      persistentVolume: one.persistentVolume ?? other?.persistentVolume,
    });
  }
  return [...byVolume.values()].filter(({ status }) => status !== 'detached');
}
