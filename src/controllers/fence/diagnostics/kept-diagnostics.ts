import { bounded } from '../../../domain/node-fence.ts';
import type { FailureDiagnostic } from '../../../ports/agents.ts';
import { timestamp } from '../../../ports/clock.ts';
import type { Job, Runner } from '../../../ports/jobs.ts';
import type { KeptDiagnostic } from '../../../ports/resources.ts';
import { updateReport } from '../../shared/node-report.ts';
import type { FenceDependencies } from '../dependencies.ts';

/** An off waits no longer than this for what it would destroy. */
const READ_DEADLINE_MS = 3_000;
/** What the report keeps of each; the newest part. */
const TEXT_MAX = 4_096;
const KEPT_MAX = 8;
/** Incidents that are remembered to have been looked at: more than there are fences at once, so that none that goes on is forgotten. */
const TAKEN_MAX = 4_096;

type Dependencies = Pick<FenceDependencies, 'clock' | 'cluster' | 'listers' | 'runner' | 'log'>;

/** What a device shows of a machine that failed, kept before the first off of an incident destroys it. Never evidence, never a reason to wait for long. */
export class KeptDiagnostics {
  readonly #dependencies: Dependencies;
  /** Once for each incident: an off that is decided afresh may not be delayed again and again. */
  readonly #taken = new Set<string>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  get isAsked(): boolean {
    return this.#dependencies.runner.failureDiagnostics !== undefined;
  }

  /** Takes what the device of `job` has; resolves with words for the journal, empty when there is nothing. Never rejects but when `job.signal` is aborted. */
  async take(fenceUid: string, incident: number, job: Job): Promise<string> {
    const { runner, log } = this.#dependencies;
    const key = `${fenceUid}/${incident}`;
    if (runner.failureDiagnostics === undefined || this.#taken.has(key) || this.#isKept(job.identity.node, incident)) return '';
    this.#taken.add(key);
    const [oldest] = this.#taken;
    if (this.#taken.size > TAKEN_MAX && oldest !== undefined) this.#taken.delete(oldest);
    const diagnostics = await this.#read(runner.failureDiagnostics.bind(runner), job);
    if (diagnostics.length === 0) return '';
    const { node } = job.identity;
    // The off goes ahead meanwhile: what was read is lost at worst, and the log says so.
    void this.#keep(node, incident, job, diagnostics).catch((error: unknown) => log.warn('diagnostics not stored', { node, error: String(error) }));
    return `diagnostics stored before it: ${diagnostics.map(({ name, content }) => `${name} (${content.byteLength} bytes)`).join(', ')}`;
  }

  /** By whoever led before: what was kept first shows the failure, what is read later what came of it. */
  #isKept(node: string, incident: number): boolean {
    return this.#dependencies.listers.reports.get(node)?.status?.exhibits?.some((kept) => kept.incident === incident) === true;
  }

  async #read(diagnostics: NonNullable<Runner['failureDiagnostics']>, job: Job): Promise<readonly FailureDiagnostic[]> {
    try {
      return (await diagnostics(job, Math.min(READ_DEADLINE_MS, job.timing.setDeadlineMs))).slice(0, KEPT_MAX);
    } catch (error) {
      if (job.signal.aborted) throw error;
      this.#dependencies.log.info('no diagnostics collected', { node: job.identity.node, error: String(error) });
      return [];
    }
  }

  async #keep(node: string, incident: number, job: Job, diagnostics: readonly FailureDiagnostic[]): Promise<void> {
    const takenAt = timestamp(this.#dependencies.clock);
    const kept = diagnostics.map((diagnostic): KeptDiagnostic => ({
      incident,
      takenAt,
      agent: job.method.agent,
      device: job.method.device,
      ...shown(diagnostic),
    }));
    // The newest incident only: what came of the others stands in their summaries.
    await updateReport(this.#dependencies, node, (status) => ({ ...status, exhibits: kept }));
  }
}

/** A text by its newest part; of anything else, what it was. */
function shown({ name, mediaType, content }: FailureDiagnostic): Pick<KeptDiagnostic, 'name' | 'mediaType' | 'bytes' | 'text'> {
  const plain = { name: bounded(name, 64), mediaType: bounded(mediaType, 64), bytes: content.byteLength };
  if (!mediaType.startsWith('text/')) return plain;
  const text = new TextDecoder().decode(content);
  return { ...plain, text: text.length <= TEXT_MAX ? text : `…${text.slice(1 - TEXT_MAX)}` };
}
