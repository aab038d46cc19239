const soonMs = 14 * 86_400_000

/** How near the end of a certificate is: `soon` in its last days, unless it is to be renewed before. */
export function nearnessOf(
  notAfter: string | null | undefined,
  renewalTime: string | null | undefined,
  now: number,
): 'over' | 'soon' | 'far' {
  if (notAfter == null) return 'over'
  const leftMs = Date.parse(notAfter) - now
  if (leftMs <= 0) return 'over'
  const isToBeRenewed = renewalTime != null && Date.parse(renewalTime) > now
  return leftMs < soonMs && !isToBeRenewed ? 'soon' : 'far'
}
