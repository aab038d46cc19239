/** A length of time as kubectl shows ages: two units while it is short, one when it is long. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2920 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

function twoUnits(first: number, unit: string, second: number, smaller: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${smaller}`
}
