/* Quantities of resources. */

const suffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** A quantity as a number, exact enough to compare; NaN for invalid quantities. */
export function quantityOf(value: unknown): number {
  const [, number, suffix = ''] =
    /^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)([a-zA-Z]*)$/.exec(String(value)) ?? []
  const [decimal, binary] = [suffixes.indexOf(suffix), binarySuffixes.indexOf(suffix)]
  if (decimal < 0 && binary < 0) return Number.NaN
  return Number(number) * (decimal < 0 ? 1024 ** binary : Number(`1e${(decimal - 3) * 3}`))
}
