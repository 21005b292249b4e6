import type { StormPolicy } from './policy.ts';
import { named, stormPolicy } from './scope.ts';
import type { CommonSettings, Ruling } from './scope.ts';
import type { StormNode } from './view.ts';
import { openWindow } from './windows.ts';
import type { UtcOffset, Window } from './windows.ts';

export interface MaintenanceSettings extends CommonSettings {
  /** An annotation of the Node that says so, with this value or, where that is undefined, with any but `false`. */
  annotation?: { key: string; value: string | undefined };
  /** Labels of the Node that say so. */
  label?: (labels: Readonly<Record<string, string>>) => boolean;
  /** As `label` was written. */
  labelText?: string;
  /** Hours of maintenance of the nodes in scope. */
  windows: readonly Window[];
  offsetMs: UtcOffset;
  /** What is under maintenance could not be read, in words: then anybody may be. */
  unreadable?: string;
}

const UNREAD = {
  reason: 'maintenance',
  message: 'it may be under maintenance: NodeMaintenances and the lock of kured are being read; ends with their answer',
} as const;

/** Somebody has this node in hand: every foreign mark that the view carries, and what was configured. */
export function maintenance(settings: MaintenanceSettings): StormPolicy {
  return stormPolicy('maintenance', settings, (view): Ruling => {
    const { unreadable } = settings;
    const unread = unreadable === undefined ? undefined : unreadableHold(unreadable);
    const open = openWindow(settings.windows, view, settings.offsetMs);
    return (node) => {
      const found = own(settings, node);
      const where = node.marks.length === 0 ? found : [...node.marks.map((mark) => `${mark.source}: ${mark.where}`), ...found];
      if (where.length > 0) return { reason: 'maintenance', message: `it is under maintenance (${named(where)}): ends when the mark is gone` };
      if (view.areMarksRead === false) return UNREAD;
      if (unread !== undefined) return unread;
      if (open === undefined) return undefined;
      const message = `maintenance window ${open.window.text} is open`;
      return { reason: 'maintenance-window', message, untilMs: view.nowMs + open.leftMs };
    };
  });
}

function unreadableHold(why: string): ReturnType<Ruling> {
  return { reason: 'maintenance', message: `it may be under maintenance: ${why}; ends when the policy is mended` };
}

function own({ annotation, label, labelText = '' }: MaintenanceSettings, { name, labels, annotations = {} }: StormNode): string[] {
  const found: string[] = [];
  const value = annotation !== undefined && Object.hasOwn(annotations, annotation.key) ? annotations[annotation.key] : undefined;
  if (annotation !== undefined && value !== undefined && (annotation.value === undefined ? value !== 'false' : value === annotation.value))
    found.push(`annotation ${annotation.key}=${value} on Node ${name}`);
  if (label?.(labels) === true) found.push(`label ${labelText} on Node ${name}`);
  return found;
}
