/** One of the values, chosen by the next random number. */
export function pick<T>(random: () => number, from: readonly T[]): T {
  const found = from[Math.floor(random() * from.length)]
  if (found === undefined) throw new RangeError('nothing to pick from')
  return found
}
