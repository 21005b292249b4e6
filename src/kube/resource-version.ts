/**
 * Is `left` an older version than `right`, or the same? `undefined` when that cannot be told: versions are opaque, and only those that are decimal
 * numbers (as etcd gives them) have an order.
 */
export function isAtMost(left: string, right: string): boolean | undefined {
  if (!/^[1-9]\d*$/.test(left) || !/^[1-9]\d*$/.test(right)) {
    return undefined;
  }
  return left.length === right.length ? left <= right : left.length < right.length;
}

/** Surely older; `undefined` on the right: nothing is. */
export function isOlder(left: string, right: string | undefined): boolean {
  return right !== undefined && left !== right && isAtMost(left, right) === true;
}
