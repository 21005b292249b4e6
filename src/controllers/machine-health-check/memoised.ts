/** Reads each object of a lister once: a change replaces it, and what nobody holds any more is forgotten with it. */
export function memoised<O extends object, F extends object>(read: (object: O) => F): (object: O) => F {
  const known = new WeakMap<O, F>();
  return (object) => {
    const found = known.get(object);
    if (found !== undefined) return found;
    const facts = read(object);
    known.set(object, facts);
    return facts;
  };
}
