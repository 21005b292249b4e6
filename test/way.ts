import { TransportError } from '../src/ports/api-transport.ts';
import type { ApiTransport } from '../src/ports/api-transport.ts';

/** A way to the API server that can be cut and mended. */
export class Way {
  readonly transport: ApiTransport;
  #isCut = false;
  readonly #watches = new Set<(error: TransportError) => void>();

  constructor(real: ApiTransport) {
    this.transport = {
      request: (request) => (this.#isCut ? Promise.reject(noWay()) : real.request(request)),
      watch: (request, sink) => {
        let close = (): void => undefined;
        const end = (error: TransportError | undefined): void => {
          if (!this.#watches.delete(end)) return;
          close();
          sink.onEnd(error);
        };
        this.#watches.add(end);
        if (this.#isCut) queueMicrotask(() => end(noWay()));
        else close = real.watch(request, { ...sink, onEnd: (error) => (this.#watches.delete(end) ? sink.onEnd(error) : undefined) });
        return () => {
          this.#watches.delete(end);
          close();
        };
      },
    };
  }

  cut(): void {
    this.#isCut = true;
    for (const end of [...this.#watches]) end(noWay());
  }

  mend(): void {
    this.#isCut = false;
  }
}

function noWay(): TransportError {
  return new TransportError('unreachable', 'no way there');
}
