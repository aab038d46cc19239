/** The gateway's own token, which may do anything. */
export const gatewayToken = 'gateway-token'

/** The users: one may read everything, one only some namespaces, and one may read everything and attacks. */
export const viewerTokens = {
  everywhere: 'everywhere-token',
  namespaces: 'namespaces-token',
  mallory: 'mallory-token',
}

/** The token of one of many users with the same access, all members of {@link readersGroup}. */
export function viewerToken(number: number): string {
  return `viewer-${number}`
}

/** Its members may read everything. */
export const readersGroup = 'readers'
