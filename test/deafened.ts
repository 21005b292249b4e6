import type { WatchSink } from '../src/ports/api-transport.ts';

/** The watch of a path for as long as the replica hears it: while it is deaf nothing comes, and nobody is told that nothing does. */
export function deafened(replica: { isDeaf: (path: string) => boolean }, path: string, sink: WatchSink): WatchSink {
  return {
    onOpen: () => {
      if (!replica.isDeaf(path)) sink.onOpen();
    },
    onEvent: (event) => {
      if (!replica.isDeaf(path)) sink.onEvent(event);
    },
    onEnd: (error) => {
      sink.onEnd(error);
    },
  };
}
