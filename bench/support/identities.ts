/** The gateway's own token, which may do anything. */
export const gatewayToken = 'gateway-token'

/** Who asks: one who reads everywhere, one who reads in some namespaces only, and one who reads everywhere and means no good. */
export const viewerTokens = {
  everywhere: 'everywhere-token',
  namespaces: 'namespaces-token',
  mallory: 'mallory-token',
}

/** The token of one of many who see the same, all of them members of {@link readersGroup}. */
export function viewerToken(number: number): string {
  return `viewer-${number}`
}

/** Its members may read everything. */
export const readersGroup = 'readers'
