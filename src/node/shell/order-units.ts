/** The first of `units` that runs or tries to; where none does, the first that is loaded. `shown`: blocks of `systemctl show --property=Id,LoadState,ActiveState`. */
export function chooseUnit(units: readonly string[], shown: string): string | undefined {
  const states = shown.split(/\n\s*\n/u).map((block) => Object.fromEntries(block.split('\n').map(fieldOf)) as Readonly<Record<string, string>>);
  // A name may be an alias of another unit; systemd shows blocks in the order in which it was asked.
  const known = units.map((unit, index) => ({ unit, state: states[index] ?? {} })).filter(({ state }) => state['LoadState'] === 'loaded');
  return (known.find(({ state }) => state['ActiveState'] !== 'inactive') ?? known[0])?.unit;
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf('=');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}
