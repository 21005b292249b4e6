import { createServer } from 'node:http';

/** `/readyz` of a reader of the cluster, which is ready once the answer was called, and `/metrics` with its heap. */
export function serveHeap(port: string): () => void {
  let isReady = false;
  createServer((request, response) => {
    response.statusCode = request.url === '/metrics' || isReady ? 200 : 503;
    const { heapUsed, heapTotal } = process.memoryUsage();
    response.end(`nodejs_heap_size_used_bytes ${heapUsed}\nnodejs_heap_size_total_bytes ${heapTotal}\n`);
  }).listen(Number(port), '127.0.0.1');
  return () => {
    isReady = true;
  };
}
