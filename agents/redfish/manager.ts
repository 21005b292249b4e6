import type { Call } from '../shared/call.ts';
import type { ResourceView } from './resource-view.ts';
import type { Session } from './session.ts';
import { linkPath, listAt, objectAt, textAt } from './words.ts';

export interface ManagerView {
  /** When it last started, by its own clock. */
  resetMs: number | undefined;
  /** How long it has been up, by its own clock. */
  upMs: number | undefined;
  isStarting: boolean;
}

/** The Manager resource (DSP2046) of the BMC that a ComputerSystem names. */
export class Manager {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Undefined where there is none. Rejects where it cannot be read. */
  async view(call: Call, { resource }: ResourceView): Promise<ManagerView | undefined> {
    const path = listAt(objectAt(resource, 'Links'), 'ManagedBy').map(linkPath)[0];
    if (path === undefined) return undefined;
    const { status, body } = await this.#session.get(call, path);
    if (status !== 200) return undefined;
    const resetMs = timeOf(textAt(body, 'LastResetTime'));
    const nowMs = timeOf(textAt(body, 'DateTime'));
    return {
      resetMs,
      upMs: resetMs === undefined || nowMs === undefined ? undefined : Math.max(0, nowMs - resetMs),
      isStarting: textAt(objectAt(body, 'Status'), 'State') === 'Starting',
    };
  }
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
