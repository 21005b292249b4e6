import { CloudServer, type CloudProtocol } from './cloud-server.ts';
import type { CloudService, CloudServiceOptions } from './cloud-service.ts';
import type { EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';

/** What an emulated cloud of one server is besides what it says. */
export abstract class ServedCloud implements CloudService {
  abstract readonly instances: readonly EmulatedInstance[];
  readonly files: Readonly<Record<string, string>> = {};
  #server: CloudServer | undefined;

  abstract get variables(): Readonly<Record<string, string>>;

  /** What was given out until now is not taken any more. */
  protected abstract forget(): void;

  get settings(): Readonly<Record<string, string>> {
    return {};
  }

  get url(): string {
    return this.#running.url;
  }

  get requests(): readonly string[] {
    return this.#running.requests;
  }

  leftOpen(): { sessions: number; connections: number } {
    return { sessions: this.sessions, connections: this.#running.connections };
  }

  setFaults(faults: CloudFaults): void {
    if (faults.forgetsTokens === true) this.forget();
    this.#running.faults = faults;
  }

  async close(): Promise<void> {
    for (const instance of this.instances) instance.close();
    await this.#running.close();
  }

  protected get faults(): CloudFaults {
    return this.#server?.faults ?? {};
  }

  protected get sessions(): number {
    return 0;
  }

  protected async serve(protocol: CloudProtocol, { host, certificate }: CloudServiceOptions): Promise<void> {
    this.#server = await CloudServer.start({ host, protocol, ...(certificate === undefined ? {} : { certificate }) });
  }

  get #running(): CloudServer {
    if (this.#server === undefined) throw new Error('the cloud was not started');
    return this.#server;
  }
}
