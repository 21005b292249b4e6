/** `status` in the words of ClusterLabs: exit code and words have to agree, and a second answer is none. */
export function stateIn(tail: string, code: number): 'on' | 'off' | 'unknown' {
  const message = tail
    .split('\n')
    .filter((line) => line.startsWith('Status:'))
    .join();
  if (code === 0 && message === 'Status: ON') return 'on';
  if (code === 2 && message === 'Status: OFF') return 'off';
  return 'unknown';
}
