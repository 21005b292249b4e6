import { AgentError, type PowerState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { textAt } from '../shared/web/web-client.ts';
import { PveRefusal, type PveApi } from './api.ts';

const KEPT_MAX = 1_000;
const UPID = /^UPID:([A-Za-z0-9][A-Za-z0-9-]*):[\w:.@!-]+:$/;

interface Asked {
  wanted: 'on' | 'off';
  upid: string;
  host: string;
  /** How it failed; kept until the next set. */
  failed?: string;
}

/** The last set of each machine that was accepted as a task: it may end in an error later. Never a proof. */
export class AskedTasks {
  readonly #api: PveApi;
  readonly #asked = new Map<string, Asked>();

  constructor(api: PveApi) {
    this.#api = api;
  }

  forget(vmid: string): void {
    this.#asked.delete(vmid);
  }

  /** False where the answer names no task. */
  remember(vmid: string, wanted: 'on' | 'off', answer: unknown): answer is string {
    const host = typeof answer === 'string' ? UPID.exec(answer)?.[1] : undefined;
    if (typeof answer !== 'string' || host === undefined) return false;
    const [oldest] = this.#asked.keys();
    if (this.#asked.size >= KEPT_MAX && oldest !== undefined) this.#asked.delete(oldest);
    this.#asked.set(vmid, { wanted, upid: answer, host });
    return true;
  }

  /** Where the accepted task ended in an error since: its own words. Not asked for where the state is the wished one. */
  async failed(call: Call, vmid: string, state: PowerState): Promise<string | undefined> {
    const asked = this.#asked.get(vmid);
    if (asked === undefined || asked.wanted === state) return undefined;
    if (asked.failed !== undefined) return asked.failed;
    try {
      const task = await this.#api.get(call, `/nodes/${encodeURIComponent(asked.host)}/tasks/${encodeURIComponent(asked.upid)}/status`);
      const exit = textAt(task, 'status') === 'stopped' ? textAt(task, 'exitstatus') : undefined;
      if (exit !== undefined && exit !== 'OK' && !exit.startsWith('WARNINGS'))
        asked.failed = `the accepted ${asked.wanted} ended in an error: ${deviceMessage(exit, [])}`;
    } catch (error) {
      // The state was read; that nobody tells of the task takes nothing from it.
      if (!(error instanceof PveRefusal || error instanceof AgentError) || call.ended !== undefined) throw error;
    }
    return asked.failed;
  }
}
