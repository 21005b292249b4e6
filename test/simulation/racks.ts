const RACKS = 2;

/** Every second node stands in the other rack, and in the other zone. */
export function rackOf(index: number): string {
  return `r${index % RACKS}`;
}
