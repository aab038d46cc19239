/* Quantities of resources. */

const decimalUnits: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
}

/** A quantity as a number, exact enough to compare: `100m`, `1Gi`. `NaN` for what is none. */
export function quantityOf(value: unknown): number {
  const found = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkMGTPE]?)(i?)$/.exec(String(value))
  if (found === null) return Number.NaN
  const [, number, unit = '', binary] = found
  if (unit === '') return Number(number)
  const power = 'kMGTPE'.indexOf(unit === 'K' ? 'k' : unit) + 1
  return Number(number) * (binary === 'i' ? 1_024 ** power : (decimalUnits[unit] ?? Number.NaN))
}
