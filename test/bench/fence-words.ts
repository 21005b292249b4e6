import type { FenceFigures } from './fences.ts';
import { spreadCells, tableOf } from './figures.ts';

export function fenceWords(run: FenceFigures): string {
  const { failedToFirstCall, firstCallBesides, firstCallCpu, failedToOff, failedToBareWatch, stableOffToRelease, podsReleased, loopLag, controller } =
    run;
  const released =
    podsReleased === undefined
      ? []
      : [
          spreadCells(`stable off → the last of ${podsReleased.pods} pods`, podsReleased.tookMs),
          spreadCells('  of it without a request under way', podsReleased.besidesMs),
          spreadCells('  requests (a number)', podsReleased.requests, 0),
        ];
  const requests = Object.entries(run.requestsPerFence).map(([request, count]) => `${request} ${count}`);
  return [
    `${run.nodes} nodes, ${run.fences} fences, ${run.wave} every ${run.everyMs} ms (at random); ${run.finished} reached final; first device calls within ${(run.drainedMs / 1_000).toFixed(1)} s`,
    tableOf([
      ['milliseconds', 'n', 'p50', 'p99', 'max'],
      spreadCells('Node declared failed → first device call', failedToFirstCall),
      ...(firstCallBesides === undefined ? [] : [spreadCells('  of it without a request under way', firstCallBesides)]),
      ...(firstCallCpu === undefined ? [] : [spreadCells('  CPU of the controller meanwhile', firstCallCpu)]),
      spreadCells('Node declared failed → off sent', failedToOff),
      spreadCells('the same event at a bare watch', failedToBareWatch),
      spreadCells('stable off → release written', stableOffToRelease),
      ...released,
    ]),
    `first call : bare watch = ${run.ratioToBareWatch} : 1 (p50); first sync ${(run.syncMs / 1_000).toFixed(1)} s; event loop late by ${loopLag.p99Ms} ms (p99), ${loopLag.maxMs} ms (max); controller ${controller.rssMb} MB resident (${controller.heapMb} MB of it live heap), ${controller.cpuMsPerFence} ms CPU per fence, and ${controller.waitedMsPerFence} ms waiting for a core`,
    `requests per fence: ${requests.join(', ')}`,
  ].join('\n');
}
